"""`trn data import-weights` and `trn data export-weights`: a model from Hugging Face, and what became of it back in the same layout."""

from typing import Annotated

import typer

from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes


def import_weights(
    stack: Stack,
    source: Annotated[str, typer.Argument(help="Model of Hugging Face (OWNER/NAME), or S3 prefix with its files.")],
    path: Annotated[str, typer.Argument(help="Folder in the pod, below /fsx.")],
    revision: Annotated[str, typer.Option("--revision", help="Branch, tag or commit of a model of Hugging Face.")] = "main",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be brought and start nothing.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for its end.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Bring a model's weights to the file system, with which a job of the recipe llama begins: --weights FOLDER.

    Its safetensors files, config.json and tokenizer, each verified. A model of Hugging Face that is of none of the recipe's shapes is refused
    by the headers of its files, before any of it is copied; HF_TOKEN for one that is not public. Run it again to go on where it was.

    Example: trn data import-weights dev meta-llama/Llama-3.1-8B /fsx/models/llama-8b
    """
    from trn.change.clients import access
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.cli.errors import MISUSE, CommandError
    from trn.cli.output import errors, results, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.data.stage_plan import need_file_system, plan_stage
    from trn.jobs.data.weights import ImportWeights, WeightsImportPlanReport, files_of_model, need_folder

    stack_file = read_stack_file(stack)
    settings, path = settings_of(stack_file), need_folder(path, "the folder")
    need_file_system(settings)
    if dry_run:
        files, size = files_of_model(source, revision, access().aws(stack, settings.region))
        plan = plan_stage(source, path, files, settings)
        errors().print(f"{plan.summary}{f', of the shape {size}' if size else ''}", markup=False, soft_wrap=True)
        write_json(WeightsImportPlanReport(**plan.said, size=size), json_file)
        results(json_file).print(f"nothing was started; it would be the Job {plan.job} in {plan.namespace}", markup=False, soft_wrap=True)
        return 0
    if access().is_practice:
        raise CommandError("no container runs in a practice account", "`--dry-run` shows what would be brought", code=MISUSE)
    change = ImportWeights(
        stack=stack, settings=settings, source=source, path=path, is_detached=detach, sums={}, replace=(), revision=revision
    )
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "staging", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(change, site, person)


def export_weights(
    stack: Stack,
    source: Annotated[str, typer.Argument(help="Folder of a job's checkpoints, whose newest is taken, or one of them.")],
    path: Annotated[str, typer.Argument(help="Folder to write, below /fsx, which must not be there.")],
    weights: Annotated[str, typer.Option("--weights", help="Weights that a LoRA began with, where they have moved.")] = "",
    image: Annotated[
        str | None, typer.Option("--image", help="Image with Python and NumPy. Else a small one, into which pip brings it.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written and start nothing.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for its end.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Write a checkpoint of the recipe llama in Hugging Face's layout, by a CPU job on an ordinary node.

    AutoModelForCausalLM.from_pretrained opens the folder: config.json, safetensors files in bfloat16, and the tokenizer that lay beside the first
    weights. The changes of a LoRA are added to the weights that it began with.

    Example: trn data export-weights dev /fsx/checkpoints/llama-8b /fsx/models/my-llama
    """
    from stacks.images import small_image
    from trn.change.clients import access
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.cli.errors import MISUSE, CommandError
    from trn.cli.output import errors, results, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.data.stage_plan import need_file_system
    from trn.jobs.data.weights import ExportWeights, WeightsExportPlanReport, need_folder, plan_export

    stack_file = read_stack_file(stack)
    settings, source, path = settings_of(stack_file), need_folder(source, "the folder of checkpoints"), need_folder(path, "the folder")
    need_file_system(settings)
    weights, image = need_folder(weights, "`--weights`") if weights else "", image or small_image(settings)
    if dry_run:
        plan = plan_export(source, path, weights, image, settings)
        errors().print(plan.summary, markup=False, soft_wrap=True)
        write_json(WeightsExportPlanReport(**plan.said), json_file)
        results(json_file).print(f"nothing was started; it would be the Job {plan.job} in {plan.namespace}", markup=False, soft_wrap=True)
        return 0
    if access().is_practice:
        raise CommandError("no container runs in a practice account", "`--dry-run` shows what would be written", code=MISUSE)
    change = ExportWeights(stack=stack, settings=settings, source=source, path=path, is_detached=detach, weights=weights, image=image)
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "exporting", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(change, site, person)
