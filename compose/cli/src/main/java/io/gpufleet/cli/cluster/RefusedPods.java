package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Pods that admission refuses do not exist, and cannot be listed: the Events of the objects that should have them tell why.
 * An Event outlives its cause by an hour, so it counts only while its object lacks pods.
 */
final class RefusedPods {
    private static final String REASON = "FailedCreate";

    private final KubernetesClient client;

    RefusedPods(KubernetesClient client) {
        this.client = client;
    }

    /** One finding for each object of a namespace whose pods are refused now. */
    List<Finding> find(String namespace) {
        var newest = new TreeMap<String, Event>();
        client.v1().events().inNamespace(namespace).list().getItems().stream()
                .filter(event -> REASON.equals(event.getReason()))
                .forEach(event -> newest.merge(name(event.getInvolvedObject()), event, RefusedPods::later));
        return newest.entrySet().stream()
                .filter(refused -> lacksPods(namespace, refused.getValue().getInvolvedObject()))
                .map(refused -> finding(namespace, refused.getKey(), text(refused.getValue())))
                .toList();
    }

    private static String name(ObjectReference owner) {
        return owner.getKind() + "/" + owner.getName();
    }

    /** Times of the API sort as text. */
    private static Event later(Event one, Event other) {
        return time(one).compareTo(time(other)) > 0 ? one : other;
    }

    private static String time(Event event) {
        return Optional.ofNullable(event.getLastTimestamp()).orElse("");
    }

    private static String text(Event event) {
        return Optional.ofNullable(event.getMessage()).orElse(REASON);
    }

    private boolean lacksPods(String namespace, ObjectReference owner) {
        return switch (owner.getKind()) {
            case "StatefulSet" ->
                Optional.ofNullable(client.apps()
                                .statefulSets()
                                .inNamespace(namespace)
                                .withName(owner.getName())
                                .get())
                        .filter(set -> count(set.getStatus().getReplicas())
                                < Optional.ofNullable(set.getSpec().getReplicas())
                                        .orElse(1))
                        .isPresent();
            case "DaemonSet" ->
                Optional.ofNullable(client.apps()
                                .daemonSets()
                                .inNamespace(namespace)
                                .withName(owner.getName())
                                .get())
                        .map(set -> set.getStatus())
                        .filter(status ->
                                count(status.getCurrentNumberScheduled()) < count(status.getDesiredNumberScheduled()))
                        .isPresent();
            case "Job" ->
                Optional.ofNullable(client.batch()
                                .v1()
                                .jobs()
                                .inNamespace(namespace)
                                .withName(owner.getName())
                                .get())
                        .map(job -> job.getStatus())
                        .filter(status -> count(status.getActive()) == 0 && count(status.getSucceeded()) == 0)
                        .isPresent();
            default -> false;
        };
    }

    private static int count(Integer number) {
        return Optional.ofNullable(number).orElse(0);
    }

    private static Finding finding(String namespace, String owner, String text) {
        return Finding.fail(owner, "its pods are refused: " + text, remedy(namespace, owner, text));
    }

    private static String remedy(String namespace, String owner, String text) {
        if (text.contains("security context constraint")) {
            return "this is OpenShift: add components: [../../platforms/openshift] to the overlay";
        }
        if (text.contains("violates PodSecurity")) {
            return "apply the overlay again: its namespace " + namespace
                    + " has the label pod-security.kubernetes.io/enforce that these pods need";
        }
        if (text.contains("exceeded quota") || text.contains("insufficient quota")) {
            return "raise what it exceeds: kubectl -n " + namespace + " get resourcequotas";
        }
        return "remove what refuses them: kubectl -n " + namespace + " describe " + owner;
    }
}
