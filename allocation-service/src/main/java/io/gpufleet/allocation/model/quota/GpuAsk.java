package io.gpufleet.allocation.model.quota;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** How many GPUs a pod asks for, or what is wrong with the question. */
public sealed interface GpuAsk {
    /** So many, 0 or more. */
    record Count(int gpus) implements GpuAsk {}

    /** One line that names container, resource and value, and the fix. */
    record Mistake(String line) implements GpuAsk {}

    /** Reads the containers of a pod as the scheduler does: init containers give back what they had. */
    static GpuAsk of(List<ContainerAsk> containers) {
        var resources = new TreeSet<String>();
        for (ContainerAsk container : containers) {
            container.limits().keySet().stream().filter(GpuResource::is).forEach(resources::add);
            container.requests().keySet().stream().filter(GpuResource::is).forEach(resources::add);
        }
        long gpus = 0;
        for (String resource : resources) {
            for (ContainerAsk container : containers) {
                Optional<String> mistake = mistake(container, resource);
                if (mistake.isPresent()) {
                    return new Mistake(mistake.get());
                }
            }
            gpus += effective(containers, resource);
        }
        return gpus > 1_000_000 ? new Mistake(gpus + " GPUs are more than any fleet has") : new Count((int) gpus);
    }

    private static long effective(List<ContainerAsk> containers, String resource) {
        long apps = 0;
        long sidecars = 0;
        long init = 0;
        for (ContainerAsk container : containers) {
            long asked = count(container, resource);
            switch (container.kind()) {
                case APP -> apps += asked;
                case SIDECAR -> {
                    sidecars += asked;
                    init = Math.max(init, sidecars);
                }
                case INIT -> init = Math.max(init, sidecars + asked);
            }
        }
        return Math.max(apps + sidecars, init);
    }

    private static long count(ContainerAsk container, String resource) {
        String text =
                container.limits().getOrDefault(resource, container.requests().getOrDefault(resource, "0"));
        return Quantity.parse(text).map(BigDecimal::longValue).orElse(0L);
    }

    private static Optional<String> mistake(ContainerAsk container, String resource) {
        String limit = container.limits().getOrDefault(resource, "");
        String request = container.requests().getOrDefault(resource, "");
        if (limit.isEmpty() && request.isEmpty()) {
            return Optional.empty();
        }
        String where = "container " + container.name() + ": " + resource;
        if (limit.isEmpty()) {
            return Optional.of(where + " is requested (" + request
                    + ") without a limit; GPUs can not be overcommitted, set resources.limits[" + resource + "]="
                    + request);
        }
        Optional<BigDecimal> number = Quantity.parse(limit);
        if (number.isEmpty() || number.get().stripTrailingZeros().scale() > 0) {
            String fix = number.map(value -> value.signum() < 0
                            ? "1"
                            : value.setScale(0, RoundingMode.CEILING).toPlainString())
                    .orElse("1");
            return Optional.of(where + "=" + limit + " is not a whole number of GPUs; ask for " + fix
                    + " (a part of a GPU is a MIG profile or a shared resource, by name)");
        }
        if (number.get().signum() < 0) {
            return Optional.of(where + "=" + limit + " is negative; ask for 1 or more, or leave it out");
        }
        boolean equal = request.isEmpty()
                || Quantity.parse(request)
                        .filter(value -> value.compareTo(number.get()) == 0)
                        .isPresent();
        return equal
                ? Optional.empty()
                : Optional.of(where + " has limit " + limit + " and request " + request
                        + "; for GPUs they must be equal, set both to " + limit + " or leave the request out");
    }
}
