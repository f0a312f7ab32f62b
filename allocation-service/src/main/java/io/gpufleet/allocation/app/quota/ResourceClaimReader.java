package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.model.quota.GpuOffer;
import io.gpufleet.allocation.model.scheduling.ContainerResources;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.PodGpuRequest;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads a ResourceClaim of {@code resource.k8s.io} as a pod that requests its devices: the claim counts, whichever pods
 * use it, until it is deleted. Devices of a DeviceClass are the resource that ResourceQuota names
 * {@code <class>.deviceclass.resource.k8s.io/devices}.
 */
public final class ResourceClaimReader {
    private static final String PREFIX = "resourceclaim/";
    private static final String PRODUCT_LABEL = "nvidia.com/gpu.product";
    /** AllocationResultsMaxSize of Kubernetes, as which ResourceQuota counts a request for all devices. */
    private static final int ALL_DEVICES = 32;

    private static final Pattern PRODUCT = attribute("productName");
    private static final Pattern PROFILE = attribute("profile");

    private ResourceClaimReader() {}

    private static Pattern attribute(String name) {
        return Pattern.compile("\\.%s\\s*==\\s*[\"']([^\"']{1,63})[\"']".formatted(name));
    }

    /** A claim as JSON has it; {@code request} identifies one that has no UID yet. */
    public static GpuPod read(Map<String, Object> claim, String namespace, String request) {
        Map<String, Object> metadata = map(claim.get("metadata"));
        String uid = text(metadata.get("uid"));
        List<Map<String, Object>> requests = requests(claim);
        return new GpuPod(
                namespace,
                prefixed(text(metadata.get("name"))),
                prefixed(text(metadata.get("generateName"))),
                uid.isEmpty() ? "request:" + request : uid,
                !uid.isEmpty(),
                Instant.MAX,
                new SchedulingConstraints(product(requests), List.of(), node(claim)),
                requests.stream().map(ResourceClaimReader::resources).toList());
    }

    // A claim and a pod of the same name are two things.
    private static String prefixed(String name) {
        return name.isEmpty() ? "" : PREFIX + name;
    }

    private static List<Map<String, Object>> requests(Map<String, Object> claim) {
        Map<String, Object> devices = map(map(claim.get("spec")).get("devices"));
        return list(devices.get("requests"));
    }

    /** The devices of one request; of alternatives, the most of each class. */
    private static ContainerResources resources(Map<String, Object> request) {
        Map<String, Integer> devices = new TreeMap<>();
        alternatives(request).forEach(one -> devices.merge(resource(one), count(one), Math::max));
        return new ContainerResources(
                text(request.get("name")),
                ContainerResources.ContainerType.APP,
                Map.of(),
                devices.entrySet().stream()
                        .collect(Collectors.toMap(
                                Map.Entry::getKey, device -> device.getValue().toString())));
    }

    private static List<Map<String, Object>> alternatives(Map<String, Object> request) {
        List<Map<String, Object>> alternatives = new ArrayList<>(list(request.get("firstAvailable")));
        if (alternatives.isEmpty()) {
            // Before v1 the fields of "exactly" were those of the request.
            alternatives.add(request.containsKey("exactly") ? map(request.get("exactly")) : request);
        }
        return alternatives;
    }

    private static String resource(Map<String, Object> request) {
        return text(request.get("deviceClassName"))
                + GpuOffer.DEVICE_CLASS
                + attribute(request, PROFILE).map(profile -> "mig-" + profile).orElse("devices");
    }

    private static int count(Map<String, Object> request) {
        if (text(request.get("allocationMode")).equals("All")) {
            return ALL_DEVICES;
        }
        return request.get("count") instanceof Number number
                ? Math.clamp(number.longValue(), 0, PodGpuRequest.MAX_DEVICES + 1)
                : 1;
    }

    private static Map<String, String> product(List<Map<String, Object>> requests) {
        List<Optional<String>> products = requests.stream()
                .flatMap(request -> alternatives(request).stream())
                .map(request -> attribute(request, PRODUCT))
                .distinct()
                .toList();
        return products.size() == 1
                ? products.getFirst()
                        .map(product -> Map.of(PRODUCT_LABEL, product.replace(' ', '-')))
                        .orElse(Map.of())
                : Map.of();
    }

    private static Optional<String> attribute(Map<String, Object> request, Pattern attribute) {
        return list(request.get("selectors")).stream()
                .map(selector -> attribute.matcher(text(map(selector.get("cel")).get("expression"))))
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .findFirst();
    }

    /** The node of the devices that are allocated; empty before, and where several nodes can use them. */
    private static String node(Map<String, Object> claim) {
        Map<String, Object> allocation = map(map(claim.get("status")).get("allocation"));
        List<Map<String, Object>> terms =
                list(map(allocation.get("nodeSelector")).get("nodeSelectorTerms"));
        return terms.size() != 1
                ? ""
                : list(terms.getFirst().get("matchFields")).stream()
                        .filter(field -> text(field.get("key")).equals("metadata.name"))
                        .filter(field -> field.get("values") instanceof List<?> values && values.size() == 1)
                        .map(field -> text(((List<?>) field.get("values")).getFirst()))
                        .findFirst()
                        .orElse("");
    }

    private static Map<String, Object> map(@Nullable Object value) {
        Map<String, Object> map = new LinkedHashMap<>();
        if (value instanceof Map<?, ?> found) {
            found.forEach((key, entry) -> map.put(String.valueOf(key), entry));
        }
        return map;
    }

    private static List<Map<String, Object>> list(@Nullable Object value) {
        return value instanceof List<?> found
                ? found.stream().map(ResourceClaimReader::map).toList()
                : List.of();
    }

    private static String text(@Nullable Object value) {
        return value == null ? "" : value.toString();
    }
}
