package io.gpufleet.testbed.fakeapiserver.type;

import com.fasterxml.jackson.databind.node.MissingNode;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import java.util.List;
import java.util.Locale;

/** The resources that are served from the start. */
final class BuiltinTypes {
    private BuiltinTypes() {}

    private static final boolean NAMESPACED = true;
    private static final boolean CLUSTER = false;
    private static final boolean STATUS = true;
    private static final boolean PLAIN = false;

    static List<ResourceType> all() {
        return List.of(
                type("", "namespaces", "Namespace", CLUSTER, STATUS, "ns"),
                type("", "nodes", "Node", CLUSTER, STATUS, "no"),
                type("", "pods", "Pod", NAMESPACED, STATUS, "po"),
                type("", "events", "Event", NAMESPACED, PLAIN, "ev"),
                type("", "secrets", "Secret", NAMESPACED, PLAIN),
                type("", "configmaps", "ConfigMap", NAMESPACED, PLAIN, "cm"),
                type("", "serviceaccounts", "ServiceAccount", NAMESPACED, PLAIN, "sa"),
                type("", "resourcequotas", "ResourceQuota", NAMESPACED, STATUS, "quota"),
                type("", "services", "Service", NAMESPACED, STATUS, "svc"),
                type("apps", "deployments", "Deployment", NAMESPACED, STATUS, "deploy"),
                type("apps", "daemonsets", "DaemonSet", NAMESPACED, STATUS, "ds"),
                type("apps", "statefulsets", "StatefulSet", NAMESPACED, STATUS, "sts"),
                type("apps", "replicasets", "ReplicaSet", NAMESPACED, STATUS, "rs"),
                type("batch", "jobs", "Job", NAMESPACED, STATUS),
                type("batch", "cronjobs", "CronJob", NAMESPACED, STATUS, "cj"),
                type("policy", "poddisruptionbudgets", "PodDisruptionBudget", NAMESPACED, STATUS, "pdb"),
                type("coordination.k8s.io", "leases", "Lease", NAMESPACED, PLAIN),
                type("discovery.k8s.io", "endpointslices", "EndpointSlice", NAMESPACED, PLAIN),
                type("events.k8s.io", "events", "Event", NAMESPACED, PLAIN),
                type("rbac.authorization.k8s.io", "roles", "Role", NAMESPACED, PLAIN),
                type("rbac.authorization.k8s.io", "rolebindings", "RoleBinding", NAMESPACED, PLAIN),
                type("rbac.authorization.k8s.io", "clusterroles", "ClusterRole", CLUSTER, PLAIN),
                type("rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding", CLUSTER, PLAIN),
                type(
                        "admissionregistration.k8s.io",
                        "validatingwebhookconfigurations",
                        "ValidatingWebhookConfiguration",
                        CLUSTER,
                        PLAIN),
                type(
                        "admissionregistration.k8s.io",
                        "mutatingwebhookconfigurations",
                        "MutatingWebhookConfiguration",
                        CLUSTER,
                        PLAIN),
                type(
                        "apiextensions.k8s.io",
                        "customresourcedefinitions",
                        "CustomResourceDefinition",
                        CLUSTER,
                        STATUS,
                        "crd",
                        "crds"));
    }

    private static ResourceType type(
            String group, String plural, String kind, boolean namespaced, boolean status, String... shortNames) {
        return new ResourceType(
                new GroupResource(group, plural),
                "v1",
                new ResourceType.Names(kind.toLowerCase(Locale.ROOT), kind, List.of(shortNames)),
                namespaced,
                status,
                MissingNode.getInstance(),
                MissingNode.getInstance());
    }
}
