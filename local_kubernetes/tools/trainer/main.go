// Kubeflow Trainer's controllers and webhooks as they are, for a test machine: everything listens on loopback, and certificates
// come from a folder, which upstream's own main has no setting for.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlpkg "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	schedulerplugins "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	volcano "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	configapi "github.com/kubeflow/trainer/v2/pkg/apis/config/v1alpha1"
	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	"github.com/kubeflow/trainer/v2/pkg/config"
	"github.com/kubeflow/trainer/v2/pkg/controller"
	runtimecore "github.com/kubeflow/trainer/v2/pkg/runtime/core"
	"github.com/kubeflow/trainer/v2/pkg/webhooks"
)

func main() {
	var probes, certificates string
	var port int
	flag.StringVar(&probes, "health-probe-bind-address", "127.0.0.1:8081", "where /healthz and /readyz are served")
	flag.StringVar(&certificates, "cert-dir", "", "folder with tls.crt and tls.key of the webhooks")
	flag.IntVar(&port, "webhook-server-port", 9443, "port of the webhooks on 127.0.0.1")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(configapi.AddToScheme(scheme))
	utilruntime.Must(trainer.AddToScheme(scheme))
	utilruntime.Must(jobset.AddToScheme(scheme))
	utilruntime.Must(schedulerplugins.AddToScheme(scheme))
	utilruntime.Must(volcano.AddToScheme(scheme))

	// Upstream's defaults, then what a test machine needs otherwise.
	options, settings, err := config.Load(scheme, "")
	check(err)
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	options.HealthProbeBindAddress = probes
	options.LeaderElection = false
	options.WebhookServer = webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certificates})
	connection := ctrl.GetConfigOrDie()
	config.ApplyClientConnection(connection, &settings)
	manager, err := ctrl.NewManager(connection, options)
	check(err)
	stopped := ctrl.SetupSignalHandler()
	runtimes, err := runtimecore.New(stopped, manager.GetClient(), manager.GetFieldIndexer(), &settings)
	check(err)
	if name, err := controller.SetupControllers(manager, runtimes, ctrlpkg.Options{}); err != nil {
		check(fmt.Errorf("controller %s: %w", name, err))
	}
	if name, err := webhooks.Setup(manager, runtimes); err != nil {
		check(fmt.Errorf("webhook %s: %w", name, err))
	}
	check(manager.AddHealthzCheck("healthz", healthz.Ping))
	check(manager.AddReadyzCheck("readyz", manager.GetWebhookServer().StartedChecker()))
	check(manager.Start(stopped))
}

func check(err error) {
	if err != nil {
		ctrl.Log.Error(err, "Trainer stops")
		os.Exit(1)
	}
}
