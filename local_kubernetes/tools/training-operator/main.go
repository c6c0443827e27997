// Kubeflow's training operator, controllers and webhooks as they are, for a test machine: everything listens on loopback, and
// certificates come from a folder. Upstream's own main offers neither; it waits for a Secret that a kubelet mounts.
package main

import (
	"flag"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	volcano "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	volcanoclient "volcano.sh/apis/pkg/client/clientset/versioned"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	controllers "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/webhooks"
)

func main() {
	var probes, certificates, gang string
	var port int
	var kinds controllers.EnabledSchemes
	flag.StringVar(&probes, "health-probe-bind-address", "127.0.0.1:8081", "where /healthz and /readyz are served")
	flag.StringVar(&certificates, "cert-dir", "", "folder with tls.crt and tls.key of the webhooks")
	flag.IntVar(&port, "webhook-server-port", 9443, "port of the webhooks on 127.0.0.1")
	flag.StringVar(&gang, "gang-scheduler-name", "", "empty, or volcano")
	flag.Var(&kinds, "enable-scheme", "a kind to run, may be given several times; all without it")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	// Upstream sets these by flags with these defaults.
	config.Config.PyTorchInitContainerImage = config.PyTorchInitContainerImageDefault
	config.Config.PyTorchInitContainerTemplateFile = config.PyTorchInitContainerTemplateFileDefault
	config.Config.PyTorchInitContainerMaxTries = config.PyTorchInitContainerMaxTriesDefault
	config.Config.MPIKubectlDeliveryImage = config.MPIKubectlDeliveryImageDefault

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(kubeflow.AddToScheme(scheme))
	utilruntime.Must(volcano.AddToScheme(scheme))
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		WebhookServer:          webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certificates}),
		HealthProbeBindAddress: probes,
	})
	check(err)
	setup := common.GenNonGangSchedulerSetupFunc()
	if strings.EqualFold(gang, string(common.GangSchedulerVolcano)) {
		setup = common.GenVolcanoSetupFunc(volcanoclient.NewForConfigOrDie(manager.GetConfig()))
	}
	if kinds.Empty() {
		kinds.FillAll()
	}
	for _, kind := range kinds {
		check(controllers.SupportedSchemeReconciler[kind](manager, setup, 1))
		check(webhooks.SupportedSchemeWebhook[kind](manager))
	}
	check(manager.AddHealthzCheck("healthz", healthz.Ping))
	check(manager.AddReadyzCheck("readyz", manager.GetWebhookServer().StartedChecker()))
	check(manager.Start(ctrl.SetupSignalHandler()))
}

func check(err error) {
	if err != nil {
		ctrl.Log.Error(err, "the operator stops")
		os.Exit(1)
	}
}
