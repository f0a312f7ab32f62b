package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpufleet.kit.config.ConfigurationException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A pod to be created.
 *
 * @param namespace its namespace
 * @param name its name
 * @param gpus limit of {@code nvidia.com/gpu} as entered; mistakes are for the webhook to refuse
 * @param product value of {@code nvidia.com/gpu.product} that its node must have; empty: any
 * @param image what a real kubelet runs
 * @param runFor run time on a fake kubelet; empty: no limit
 */
public record PodRequest(String namespace, String name, String gpus, String product, String image, String runFor) {
    private static final Pattern RUN_FOR = Pattern.compile("|\\d{1,9}(ms|s|m|h)");
    private static final Pattern NAME = Pattern.compile("([a-z0-9][-a-z0-9]{0,62})/([a-z0-9][-a-z0-9.]{0,252})");

    /** Rejects a run time that a fake kubelet would ignore. */
    public PodRequest {
        if (!RUN_FOR.matcher(runFor).matches()) {
            throw new ConfigurationException(
                    "--run-for '" + runFor + "' is not usable: it takes a time such as 500ms, 30s, 5m or 1h");
        }
    }

    /** Splits {@code NAMESPACE/NAME}; other forms are errors. */
    public static Map.Entry<String, String> parseName(String text) {
        Matcher matcher = NAME.matcher(text);
        if (!matcher.matches()) {
            throw new ConfigurationException("'" + text + "' is not NAMESPACE/NAME, for example team-a/train");
        }
        return Map.entry(matcher.group(1), matcher.group(2));
    }

    /** The object for the API. */
    Pod pod() {
        var quantity = Quantity.parse(gpus);
        var pod = new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .endMetadata()
                .withNewSpec()
                .withRestartPolicy("Never")
                .addNewContainer()
                .withName("main")
                .withImage(image)
                .withNewResources()
                .addToLimits("nvidia.com/gpu", quantity)
                .addToRequests("nvidia.com/gpu", quantity)
                .endResources()
                .endContainer()
                .endSpec()
                .build();
        if (!product.isEmpty()) {
            pod.getSpec().setNodeSelector(Map.of("nvidia.com/gpu.product", product));
        }
        if (!runFor.isEmpty()) {
            pod.getMetadata().setAnnotations(Map.of("gpufleet.io/run-for", runFor));
        }
        return pod;
    }
}
