package io.gpufleet.cli.lifecycle;

import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/** Failure policies of the quota webhooks by name, in every version of their configuration that the API server tells of. */
final class WebhookHistory implements AutoCloseable, ResourceEventHandler<ValidatingWebhookConfiguration> {
    private final List<Map<String, String>> versions = new CopyOnWriteArrayList<>();
    private final SharedIndexInformer<ValidatingWebhookConfiguration> informer;

    /** Watches from now on. */
    WebhookHistory(KubernetesClient client) {
        informer = client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("gpufleet-quota")
                .inform(this);
    }

    /** Versions so far, but those without webhooks, as the manifest has it. */
    List<Map<String, String>> versions() {
        return versions.stream().filter(policies -> !policies.isEmpty()).toList();
    }

    @Override
    public void onAdd(ValidatingWebhookConfiguration added) {
        versions.add(added.getWebhooks().stream()
                .collect(Collectors.toMap(ValidatingWebhook::getName, ValidatingWebhook::getFailurePolicy)));
    }

    @Override
    public void onUpdate(ValidatingWebhookConfiguration before, ValidatingWebhookConfiguration now) {
        onAdd(now);
    }

    @Override
    public void onDelete(ValidatingWebhookConfiguration deleted, boolean unknown) {
        versions.clear();
    }

    @Override
    public void close() {
        informer.close();
    }
}
