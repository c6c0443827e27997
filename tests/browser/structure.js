// What is wrong with a page as it stands, by the rules of structure: an object of lists, one for each rule, all empty where
// the page is right. Contrast and target rules: WCAG 2.2, success criteria 1.4.3, 1.4.11 and 2.5.8.
(() => {
  const wrong = {overflow: [], cut: [], overlap: [], contrast: [], controls: [], targets: [], names: [], broken: []};
  const say = element => `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ""}.${element.getAttribute("class") || ""}`;
  const seen = element => element.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const all = [...document.body.querySelectorAll("*")].filter(seen);
  const width = document.documentElement.clientWidth;

  // Text as it is drawn: one entry for each line of each text node.
  const texts = [];
  for (const element of all) for (const node of element.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE || !node.textContent.trim() || element.closest("script, style, title")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) if (rect.width > 1 && rect.height > 1) texts.push({element, node, rect, text: node.textContent.trim()});
  }

  // Nothing is wider than the screen: neither the page, nor what a box of it would have to be scrolled for.
  if (document.documentElement.scrollWidth > innerWidth) wrong.overflow.push(`page: ${document.documentElement.scrollWidth} of ${innerWidth}`);
  for (const {element, rect, text} of texts) if (rect.right > width + 1 || rect.left < -1) wrong.overflow.push(`${say(element)} ${text}`);

  // No text ends where its box ends.
  const clips = element => /hidden|clip|auto|scroll/.test(getComputedStyle(element).overflowX);
  for (const {element, rect, text} of texts) {
    for (let box = element.parentElement && element; box && box !== document.body; box = box.parentElement) {
      if (box instanceof SVGElement || !clips(box)) continue;
      const edge = box.getBoundingClientRect();
      if (rect.right > edge.right + 1 || rect.left < edge.left - 1) wrong.cut.push(`${say(element)} ${text} in ${say(box)}`);
    }
  }

  // No short word is broken in its middle: `repla-ced`. Names with dots, dashes and slashes may be, and long ones must.
  for (const {node} of new Map(texts.map(text => [text.node, text])).values()) {
    for (const word of node.textContent.matchAll(/(?<![\w.:/$'-])[A-Za-z]{2,12}(?![\w.:/$'-])/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const tops = new Set([...range.getClientRects()].filter(rect => rect.width > 1).map(rect => Math.round(rect.top / 4)));
      if (tops.size > 1) wrong.broken.push(`${word[0]} in ${node.textContent.trim().slice(0, 60)}`);
    }
  }

  // No two texts are drawn over each other.
  const fixed = element => element.closest(".card");
  texts.sort((a, b) => a.rect.top - b.rect.top);
  for (let one = 0; one < texts.length; one++) for (let two = one + 1; two < texts.length && texts[two].rect.top < texts[one].rect.bottom; two++) {
    const [a, b] = [texts[one], texts[two]];
    const across = Math.min(a.rect.right, b.rect.right) - Math.max(a.rect.left, b.rect.left);
    const down = Math.min(a.rect.bottom, b.rect.bottom) - Math.max(a.rect.top, b.rect.top);
    // Lines of one paragraph lean into each other by their own height.
    if (across > 2 && down > 4 && !fixed(a.element) && !fixed(b.element)) wrong.overlap.push(`${a.text} / ${b.text}`);
  }

  // Contrast of text with what lies under it.
  const parse = colour => {
    const found = colour.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return found.length < 4 ? [...found.slice(0, 3), 1] : found;
  };
  const over = (top, below) => top.slice(0, 3).map((part, index) => part * top[3] + below[index] * (1 - top[3])).concat(1);
  const ground = element => {
    const layers = [];
    for (let box = element; box; box = box.parentElement) {
      const colour = parse(getComputedStyle(box).backgroundColor);
      layers.push(colour);
      if (colour[3] === 1) break;
    }
    const dark = matchMedia("screen and (prefers-color-scheme: dark)").matches;
    return layers.reverse().reduce((below, top) => over(top, below), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const light = colour => {
    const [red, green, blue] = colour.map(part => part / 255).map(part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
    return .2126 * red + .7152 * green + .0722 * blue;
  };
  const ratio = (one, two) => {
    const [high, low] = [light(one), light(two)].sort((a, b) => b - a);
    return (high + .05) / (low + .05);
  };
  for (const {element, text} of texts) {
    const style = getComputedStyle(element), below = ground(element);
    const colour = over(parse(element instanceof SVGElement ? style.fill : style.color), below);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio(colour, below) < (large ? 3 : 4.5)) wrong.contrast.push(`${say(element)} ${text}: ${ratio(colour, below).toFixed(2)}`);
  }

  // Contrast of what is no text and carries meaning: bars, and the edges of controls.
  for (const bar of all.filter(element => element.matches(".row .bar"))) {
    const style = getComputedStyle(bar), below = ground(bar);
    const most = Math.max(ratio(parse(style.fill), below), ratio(parse(style.stroke), below));
    if (most < 3) wrong.controls.push(`${say(bar)}: ${most.toFixed(2)}`);
  }
  for (const control of all.filter(element => element.matches(".tools button, .copy, input"))) {
    const most = ratio(over(parse(getComputedStyle(control).borderTopColor), ground(control.parentElement)), ground(control.parentElement));
    if (most < 3) wrong.controls.push(`${say(control)}: ${most.toFixed(2)}`);
  }

  // What is pressed is large enough, and has a name.
  for (const control of all.filter(element => element.matches("button, input, summary"))) {
    const {height, width: across} = control.getBoundingClientRect();
    if (height < 24 || across < 24) wrong.targets.push(`${say(control)} ${across.toFixed(0)} x ${height.toFixed(0)}`);
    const name = control.getAttribute("aria-label") || control.textContent.trim();
    if (!name) wrong.names.push(say(control));
  }
  for (const picture of all.filter(element => element.matches("svg:not(svg svg)"))) {
    if (!picture.closest("[aria-hidden=true], summary, [role=img][aria-label]") && !picture.getAttribute("aria-label")) wrong.names.push(say(picture));
  }
  return wrong;
})()
