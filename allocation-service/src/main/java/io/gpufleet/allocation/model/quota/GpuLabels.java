package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.ledger.GpuModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** GPUs by the labels of a node, or by those that a pod demands of its node: of nodes without a daemon, and of pools at zero. */
final class GpuLabels {
    /**
     * Of GKE, Karpenter and EKS on AWS, Karpenter on Azure: as in the EKS user guide, "Create a node pool for EKS Auto
     * Mode", and in "Configure node pools for node auto-provisioning" of the AKS documentation.
     */
    private static final List<String> CLOUD_LABELS = List.of(
            "cloud.google.com/gke-accelerator",
            "karpenter.k8s.aws/instance-gpu-name",
            "eks.amazonaws.com/instance-gpu-name",
            "k8s.amazonaws.com/accelerator",
            "karpenter.azure.com/sku-gpu-name");

    private static final String PRODUCT_LABEL = "nvidia.com/gpu.product";
    private static final String TYPE_LABEL = "gpu-type";
    private static final String INSTANCE_LABEL = "node.kubernetes.io/instance-type";
    /** Azure names the GPU in the instance type, for example {@code Standard_NC24ads_A100_v4}. */
    private static final Pattern AZURE_INSTANCE = Pattern.compile("Standard_N[A-Za-z0-9-]*_([A-Z]+\\d+[A-Z]*)_v\\d+");

    /** The family is what precedes the size: {@code p5} of {@code p5.48xlarge}, {@code a3-highgpu} of {@code a3-highgpu-8g}. */
    private static final Pattern FAMILY = Pattern.compile("([a-z][a-z0-9-]*)\\..+|([a-z]\\d+x?-[a-z]+)-.+");

    /**
     * GPUs of the families of AWS and of Google, all sizes of which have the same: as in "Amazon EC2 accelerated computing
     * instances" with Karpenter's reference of instance types, and in "Accelerator-optimized machine family".
     */
    private static final Map<String, String> MODEL_BY_FAMILY = modelByFamily(Map.ofEntries(
            Map.entry("V100", "p3 p3dn"),
            Map.entry("A100", "p4d p4de a2-highgpu a2-ultragpu a2-megagpu"),
            Map.entry("H100", "p5 a3-highgpu a3-megagpu a3-edgegpu"),
            Map.entry("H200", "p5e p5en a3-ultragpu"),
            Map.entry("B200", "p6-b200 a4-highgpu"),
            Map.entry("B300", "p6-b300"),
            Map.entry("GB200", "p6e-gb200 a4x-highgpu"),
            Map.entry("T4", "g4dn"),
            Map.entry("T4G", "g5g"),
            Map.entry("A10G", "g5"),
            Map.entry("L4", "g6 g6f gr6 gr6f g2-standard"),
            Map.entry("L40S", "g6e"),
            Map.entry("RTX-PRO-6000-Blackwell", "g7e g4-standard")));

    private static final Pattern CLOUD_NOISE = Pattern.compile("nvidia|tesla|mega|\\d+gb");
    private static final Pattern MIG_PRODUCT = Pattern.compile(".*-MIG-(.+?)(?:-SHARED)?");
    private static final List<String> KEYS = keys();

    private final Map<String, String> shortModelByProduct = new HashMap<>();

    private static List<String> keys() {
        var keys = new ArrayList<>(List.of(PRODUCT_LABEL, TYPE_LABEL));
        keys.addAll(CLOUD_LABELS);
        keys.add(INSTANCE_LABEL);
        return List.copyOf(keys);
    }

    /** Labels that may name the GPU of a node. */
    static List<String> names() {
        return KEYS;
    }

    /** A daemon announced a model; true when its product was not known so far. */
    boolean announced(GpuModel model) {
        return !model.shortModel().equals(shortModelByProduct.put(product(model.model()), model.shortModel()));
    }

    /** The product name as labels have it. */
    static String product(String model) {
        return model.replace(' ', '-');
    }

    /** The GPU that the labels name; empty where they name none. */
    Optional<GpuOffer> offer(Map<String, String> labels) {
        String product = labels.getOrDefault(PRODUCT_LABEL, "");
        Matcher mig = MIG_PRODUCT.matcher(product);
        String profile = mig.matches() ? mig.group(1) : "";
        Optional<String> known = announcedProduct(product);
        return known.map(shortModelByProduct::get)
                .or(() -> label(labels, TYPE_LABEL).map(this::canonical))
                .or(() -> byCloud(labels))
                .or(() -> product.isEmpty() ? Optional.empty() : Optional.of(GpuOffer.UNKNOWN))
                .map(model -> new GpuOffer(
                        "", model, known.orElse(product.isEmpty() ? GpuOffer.UNKNOWN : product), profile, 1));
    }

    private Optional<String> byCloud(Map<String, String> labels) {
        return CLOUD_LABELS.stream()
                .flatMap(key -> label(labels, key).stream())
                .map(this::cloudModel)
                .findFirst()
                .or(() -> label(labels, INSTANCE_LABEL)
                        .flatMap(GpuLabels::modelOfInstance)
                        .map(this::canonical));
    }

    private static Optional<String> modelOfInstance(String type) {
        Matcher azure = AZURE_INSTANCE.matcher(type);
        if (azure.matches()) {
            return Optional.of(azure.group(1));
        }
        Matcher family = FAMILY.matcher(type);
        return family.matches()
                ? Optional.ofNullable(MODEL_BY_FAMILY.get(family.group(1) == null ? family.group(2) : family.group(1)))
                : Optional.empty();
    }

    private static Map<String, String> modelByFamily(Map<String, String> familiesByModel) {
        var models = new HashMap<String, String>();
        familiesByModel.forEach((model, families) -> {
            for (String family : families.split(" ")) {
                models.put(family, model);
            }
        });
        return Map.copyOf(models);
    }

    /** {@code nvidia-tesla-a100} and {@code nvidia-h100-mega-80gb} are A100 and H100; a name that is not known stays. */
    private String cloudModel(String value) {
        String name = Arrays.stream(value.toLowerCase(Locale.ROOT).split("-"))
                .filter(word -> !CLOUD_NOISE.matcher(word).matches())
                .collect(Collectors.joining("-"));
        return canonical(name.isEmpty() ? value : name);
    }

    /** The label is in lower case; the announced name, where there is one, is not, and may go on. */
    private String canonical(String name) {
        return shortModelByProduct.values().stream()
                .filter(known -> known.equalsIgnoreCase(name) || startsWith(known, name + "-"))
                .min(Comparator.comparingInt(String::length))
                .orElseGet(() -> name.toUpperCase(Locale.ROOT));
    }

    private static boolean startsWith(String text, String start) {
        return text.regionMatches(true, 0, start, 0, start.length());
    }

    private static Optional<String> label(Map<String, String> labels, String key) {
        return Optional.of(labels.getOrDefault(key, "")).filter(value -> !value.isEmpty());
    }

    // A label may continue after the product (-SHARED, -MIG-1g.5gb), and one product may be the start of another.
    private Optional<String> announcedProduct(String label) {
        return shortModelByProduct.keySet().stream()
                .filter(product -> label.equals(product) || label.startsWith(product + "-"))
                .max(Comparator.comparingInt(String::length));
    }
}
