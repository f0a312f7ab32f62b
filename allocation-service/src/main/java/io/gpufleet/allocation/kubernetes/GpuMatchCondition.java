package io.gpufleet.allocation.kubernetes;

import io.gpufleet.allocation.model.scheduling.GpuResources;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** CEL expression of a webhook's match condition: true for a pod that requests GPUs, so that no other pod reaches it. */
final class GpuMatchCondition {
    private GpuMatchCondition() {}

    static String of(GpuResources resources) {
        String isGpu = isGpu(resources);
        String container = "(has(c.resources) && ((has(c.resources.limits) && c.resources.limits.exists(r, " + isGpu
                + ")) || (has(c.resources.requests) && c.resources.requests.exists(r, " + isGpu + "))))";
        return "object.spec.containers.exists(c, " + container
                + ") || (has(object.spec.initContainers) && object.spec.initContainers.exists(c, " + container + "))";
    }

    private static String isGpu(GpuResources resources) {
        List<String> alternatives = new ArrayList<>();
        alternatives.add(resources.names().stream()
                .filter(name -> !name.endsWith("*"))
                .map(name -> "'" + name + "'")
                .collect(Collectors.joining(", ", "r in [", "]")));
        resources.names().stream()
                .filter(name -> name.endsWith("*"))
                .map(name -> "r.startsWith('" + name.substring(0, name.length() - 1) + "')")
                .forEach(alternatives::add);
        return String.join(" || ", alternatives);
    }
}
