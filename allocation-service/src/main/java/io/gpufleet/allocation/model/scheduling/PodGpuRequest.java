package io.gpufleet.allocation.model.scheduling;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** GPUs that a pod requests. */
public sealed interface PodGpuRequest {
    /** Most devices of one resource that a pod may request. */
    int MAX_DEVICES = 1_000_000;

    /** Number as which a larger one counts. */
    BigDecimal TOO_MANY_DEVICES = BigDecimal.valueOf(MAX_DEVICES + 1L);

    /** A valid request: devices by resource, each at least 1. */
    record Devices(SortedMap<String, Integer> byResource) implements PodGpuRequest {
        /** Copies, sorted. */
        public Devices {
            byResource = Collections.unmodifiableSortedMap(new TreeMap<>(byResource));
        }
    }

    /** An invalid request; the message names container, resource, value and remedy in one line. */
    record Invalid(String message) implements PodGpuRequest {}

    /** Sums over the containers of a pod as the scheduler does: app containers may reuse the GPUs of init containers. */
    static PodGpuRequest of(List<ContainerResources> containers, GpuResources known) {
        var resources = new TreeSet<String>();
        for (ContainerResources container : containers) {
            container.limits().keySet().stream().filter(known::contains).forEach(resources::add);
            container.requests().keySet().stream().filter(known::contains).forEach(resources::add);
        }
        SortedMap<String, Integer> devices = new TreeMap<>();
        for (String resource : resources) {
            for (ContainerResources container : containers) {
                Optional<String> error = validate(container, resource);
                if (error.isPresent()) {
                    return new Invalid(error.get());
                }
            }
            long effective = effective(containers, resource);
            if (effective > MAX_DEVICES) {
                return new Invalid(effective + " " + resource + " are more than any fleet has");
            }
            if (effective > 0) {
                devices.put(resource, (int) effective);
            }
        }
        return new Devices(devices);
    }

    /** Devices by resource of the containers of a pod; none for an invalid request. */
    static SortedMap<String, Integer> devices(List<ContainerResources> containers, GpuResources known) {
        return of(containers, known) instanceof Devices(var byResource) ? byResource : new TreeMap<>();
    }

    private static long effective(List<ContainerResources> containers, String resource) {
        long apps = 0;
        long sidecars = 0;
        long init = 0;
        for (ContainerResources container : containers) {
            long requested = count(container, resource);
            switch (container.type()) {
                case APP -> apps += requested;
                case SIDECAR -> {
                    sidecars += requested;
                    init = Math.max(init, sidecars);
                }
                case INIT -> init = Math.max(init, sidecars + requested);
            }
        }
        return Math.max(apps + sidecars, init);
    }

    private static long count(ContainerResources container, String resource) {
        String text =
                container.limits().getOrDefault(resource, container.requests().getOrDefault(resource, "0"));
        // Beyond what a long holds, the value of a quantity as a long would be any number, 0 too.
        return Quantity.parse(text)
                .map(number -> number.min(TOO_MANY_DEVICES).longValue())
                .orElse(0L);
    }

    private static Optional<String> validate(ContainerResources container, String resource) {
        String limit = container.limits().getOrDefault(resource, "");
        String request = container.requests().getOrDefault(resource, "");
        if (limit.isEmpty() && request.isEmpty()) {
            return Optional.empty();
        }
        String field = "container " + container.name() + ": " + resource;
        if (limit.isEmpty()) {
            return Optional.of(field + " is requested (" + request
                    + ") without a limit; GPUs cannot be overcommitted, set resources.limits[" + resource + "]="
                    + request);
        }
        Optional<BigDecimal> number = Quantity.parse(limit);
        if (number.isEmpty() || number.get().stripTrailingZeros().scale() > 0) {
            String valid = number.map(value -> value.signum() < 0
                            ? "1"
                            : value.setScale(0, RoundingMode.CEILING).toPlainString())
                    .orElse("1");
            return Optional.of(field + "=" + limit + " is not a whole number of GPUs; ask for " + valid
                    + " (for a part of a GPU request a MIG profile or a shared resource by its resource name)");
        }
        if (number.get().signum() < 0) {
            return Optional.of(field + "=" + limit + " is negative; ask for 1 or more, or leave it out");
        }
        boolean equal = request.isEmpty()
                || Quantity.parse(request)
                        .filter(value -> value.compareTo(number.get()) == 0)
                        .isPresent();
        return equal
                ? Optional.empty()
                : Optional.of(field + " has limit " + limit + " and request " + request
                        + "; for GPUs they must be equal, set both to " + limit + " or leave the request out");
    }
}
