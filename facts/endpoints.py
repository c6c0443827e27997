"""AWS services that a VPC reaches by an endpoint of its own, by the names of their endpoints.

Sources: AWS PrivateLink guide, "AWS services that integrate with AWS PrivateLink"; EKS user guide, private clusters; read 2026-11.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

NODE_ENDPOINTS = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts")
"""Services that a node without a way to the internet must reach through interface endpoints before it can join and give its pods
an identity; beside them the gateway endpoint of S3, where images are kept (EKS user guide, private clusters)."""
SESSION_ENDPOINTS = ("ec2messages", "ssm", "ssmmessages")
"""Services that the Systems Manager agent of a node calls (Systems Manager user guide, setup-create-vpc)."""

_NAMES = """
access-analyzer access-analyzer-fips account acm acm-fips acm-pca acm-pca-fips airflow.api airflow.api-fips airflow.env
airflow.env-fips airflow.ops analytics-omics analytics-omics-fips apigateway app-integrations appconfig appconfig-fips
appconfigdata appconfigdata-fips application-autoscaling application-signals applicationinsights appmesh
appmesh-envoy-management apprunner apprunner.requests appstream.api appstream.streaming appsync-api apptest aps aps-workspaces
arsenal-discovery athena auditmanager autoscaling autoscaling-fips autoscaling-plans awsconnector b2bi backup backup-gateway
batch bcm-pricing-calculator bedrock bedrock-agent bedrock-agent-runtime bedrock-data-automation bedrock-data-automation-fips
bedrock-data-automation-runtime bedrock-data-automation-runtime-fips bedrock-runtime billing billingconductor braket cases
cassandra cassandra-fips ce cleanrooms cleanrooms-fips cleanrooms-ml cloudcontrolapi cloudcontrolapi-fips clouddirectory
cloudformation cloudformation-fips cloudhsmv2 cloudtrail codeartifact.api codeartifact.repositories codebuild codebuild-fips
codecommit codecommit-fips codeconnections.api codedeploy codedeploy-commands-secure codedeploy-fips codeguru-profiler
codeguru-reviewer codepipeline codestar-connections.api codewhisperer comprehend comprehendmedical compute-optimizer config
config-fips connect-campaigns console control-storage-omics control-storage-omics-fips controlcatalog controltower
controltower-fips cost-optimization-hub data-servicediscovery data-servicediscovery-fips databrew databrew-fips dataexchange
datasync datazone datazone-fips deadline.management deadline.scheduling detective detective-fips deviceadvisor.iot devops-guru
dicom-medical-imaging directconnect directconnect-fips discovery dlm dlm-fips dms dms-fips drs ds ds-data ds-data-fips dsql
dynamodb dynamodb-fips dynamodb-streams ebs ebs-fips ec2 ec2-fips ec2messages ecr.api ecr.dkr ecs ecs-agent ecs-telemetry eks
eks-auth eks-fips eks-proxy elasticache elasticache-fips elasticbeanstalk elasticbeanstalk-health elasticfilesystem
elasticfilesystem-fips elasticloadbalancing elasticmapreduce elasticmapreduce-fips email-smtp emr-containers emr-serverless
emr-serverless-services.livy emr-serverless.dashboard emrwal.prod entityresolution entityresolution-fips events events-fips evs
evs-fips execute-api finspace finspace-api fis fis-fips fms fms-fips forecast forecast-fips forecastquery forecastquery-fips
frauddetector freetier fsx fsx-fips gamelift gameliftstreams geo.geofencing geo.maps geo.metadata geo.places geo.routes
geo.tracking git-codecommit git-codecommit-fips glue glue.dashboard grafana grafana-workspace greengrass groundstation
groundstation-fips guardduty guardduty-data guardduty-data-fips guardduty-fips healthlake highlander identitystore imagebuilder
inspector-scan inspector-scan-fips inspector2 inspector2-fips internetmonitor internetmonitor-fips iot-fips.api
iot-fips.tunneling.api iot-fips.tunneling.data iot.api iot.credentials iot.data iot.tunneling.api iot.tunneling.data
iotfleetwise iotmanagedintegrations-fips.api iotmanagedintegrations.api iotroborunner iotsitewise.api iotsitewise.data
iottwinmaker.api iottwinmaker.data iotwireless.api ivs.contribute kafka kafka-fips kendra kinesis-firehose kinesis-streams
kinesis-streams-fips kinesisanalytics kinesisanalytics-fips kms kms-fips lakeformation lambda launchwizard license-manager
license-manager-fips license-manager-linux-subscriptions license-manager-linux-subscriptions-fips
license-manager-user-subscriptions license-manager-user-subscriptions-fips lightsail logs lookoutequipment lookoutvision
lorawan.cups lorawan.lns m2 macie2 macie2-fips mail-manager mail-manager-fips mail-manager-smtp.auth.fips
mail-manager-smtp.open.fips managedblockchain-query managedblockchain.bitcoin.mainnet managedblockchain.bitcoin.testnet
mediaconnect mediaconvert mediaconvert-fips medical-imaging memory-db memorydb-fips metering-marketplace mgn
migrationhub-orchestrator migrationhub-strategy models-v2-lex monitoring mq mq-fips neptune-graph neptune-graph-data
neptune-graph-fips network-firewall network-firewall-fips networkflowmonitor networkflowmonitorreports networkmanager
networkmonitor notifications notifications-contacts oam observabilityadmin organizations organizations-fips osis outposts
panorama payment-cryptography.controlplane payment-cryptography.dataplane pca-connector-ad pca-connector-scep pcs pcs-fips
personalize personalize-events personalize-runtime pi pi-fips pinpoint pinpoint-sms-voice-v2 pipes pipes-data pipes-fips polly
polly-fips pricing.api profile proton q qapps quicksight-website ram ram-fips rbin rbin-fips rds rds-data rds-fips redshift
redshift-data redshift-data-fips redshift-fips redshift-serverless redshift-serverless-fips refactor-spaces rekognition
rekognition-fips repostspace resource-explorer-2 resource-explorer-2-fips resource-groups resource-groups-fips rolesanywhere
rolesanywhere-fips rum rum-dataplane runtime-medical-imaging runtime-v2-lex s3 s3-outposts s3tables
sagemaker-data-science-assistant sagemaker.api sagemaker.api-fips sagemaker.featurestore-runtime
sagemaker.featurestore-runtime-fips sagemaker.metrics sagemaker.runtime sagemaker.runtime-fips scheduler schemas scn
secretsmanager securityhub securityhub-fips securitylake securitylake-fips serverlessrepo service.user-subscriptions
servicecatalog servicecatalog-appregistry servicediscovery servicediscovery-fips servicequotas signin simspaceweaver
snow-device-management sns social-messaging social-messaging-fips sqs sqs-fips ssm ssm-contacts ssm-incidents
ssm-incidents-fips ssm-quicksetup ssm-sap ssm-sap-fips ssmmessages states storage-omics storagegateway streaming-rekognition
sts sts-fips swf swf-fips sync-states synthetics synthetics-fips tagging tags-omics tags-omics-fips tax textract textract-fips
thinclient.api timestream-influxdb timestream-influxdb-fips timestream.ingest-cell timestream.query-cell tnb transcribe
transcribestreaming transcribestreaming-fips transfer transfer.server transform transform-custom translate trustedadvisor
verifiedpermissions verifiedpermissions-fips voiceid vpc-lattice wafv2 wafv2-fips wellarchitected wisdom workflows-omics
workflows-omics-fips workmail workmailmessageflow workspaces workspaces-web workspaces-web-fips xray
"""
INTERFACE_ENDPOINTS = frozenset(_NAMES.split())
"""Services named `com.amazonaws.REGION.NAME`, in any region; which of them a region has is the account's to say."""
NO_REGIONAL_ENDPOINT = {
    "iam": "IAM has one endpoint for a whole partition, com.amazonaws.iam, which is no service of a region",
    "pricing": "the Price List API answers in three regions only, so a cluster's own region has no endpoint for it",
}
"""Services that pods of add-ons call by default and that an endpoint of the cluster's region does not reach, with the reason.
Sources: PrivateLink guide; Karpenter 1.14 docs, getting started, private clusters."""

_ENDPOINT_OF = {"aps": "aps-workspaces", "cloudwatch": "monitoring", "ecr": "ecr.api"}
"""Prefixes of actions that are not the name of their endpoint."""
_IN_THE_CALLERS_NAME = ("iam:PassRole", "iam:CreateServiceLinkedRole")
"""Actions that a service checks, or takes, itself when its own API is called: nothing is sent to IAM."""


_OF_MANAGED_POLICIES = {"AmazonEKS_CNI_Policy": ("ec2",)}
"""Services that AWS managed policies of service accounts let call (AWS managed policy reference, 2026-11)."""


def services_of_managed_policy(arn: str) -> tuple[str, ...]:
    """Services that the holder of an AWS managed policy may call; none of a policy that no service account here has."""
    return _OF_MANAGED_POLICIES.get(arn.rsplit("/", 1)[-1], ())


def called_services(documents: Iterable[Mapping[str, Any]]) -> set[str]:
    """Services that the holder of these IAM documents may call itself, by the names of their endpoints.

    Left out is what another service does in its name (`aws:CalledVia`).
    """
    actions = (action for document in documents for statement in document["Statement"] for action in _actions(statement))
    prefixes = {action.split(":")[0] for action in actions if action not in _IN_THE_CALLERS_NAME}
    return {_ENDPOINT_OF.get(prefix, prefix) for prefix in prefixes}


def _actions(statement: Mapping[str, Any]) -> Iterator[str]:
    conditions = statement.get("Condition", {})
    if any("aws:CalledVia" in keys for keys in conditions.values()):
        return
    action = statement["Action"]
    yield from [action] if isinstance(action, str) else action
