package io.gpufleet.allocation.model.scheduling;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Names of the extended resources that are GPUs: those that are configured, and those that nodes announced.
 *
 * @param names resource names; one that ends with {@code *} stands for every name that begins so
 */
public record GpuResources(SortedSet<String> names) {
    /** No resource. */
    public static final GpuResources NONE = new GpuResources(new TreeSet<>());

    // Names become text of a CEL expression: what could end a string there is no name.
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9.-]{1,253}/(?:[A-Za-z0-9._-]{1,63}\\*?|\\*)");

    /** Copies, sorted. */
    public GpuResources {
        names = Collections.unmodifiableSortedSet(new TreeSet<>(names));
    }

    /** True for {@code domain/name}, with or without a {@code *} at its end. */
    public static boolean isValid(String name) {
        return NAME.matcher(name).matches();
    }

    /** True for a resource of a device plugin, which may be a GPU once a node announces it. */
    public static boolean isExtended(String resource) {
        int slash = resource.indexOf('/');
        return slash > 0 && !("." + resource.substring(0, slash)).endsWith(".kubernetes.io");
    }

    /** True when a container has an amount of an extended resource. */
    public static boolean requestsExtended(List<ContainerResources> containers) {
        return resources(containers).anyMatch(GpuResources::isExtended);
    }

    /** These and others; of the others what is no name of an extended resource is left out. */
    public GpuResources with(Collection<String> others) {
        var all = new TreeSet<>(names);
        others.stream().filter(GpuResources::isValid).forEach(all::add);
        return new GpuResources(all);
    }

    /** True when the resource is a GPU. */
    public boolean contains(String resource) {
        return names.contains(resource)
                || names.stream()
                        .anyMatch(name ->
                                name.endsWith("*") && resource.startsWith(name.substring(0, name.length() - 1)));
    }

    /** True when a container has an amount of one of these resources. */
    public boolean requestedBy(List<ContainerResources> containers) {
        return resources(containers).anyMatch(this::contains);
    }

    private static Stream<String> resources(List<ContainerResources> containers) {
        return containers.stream()
                .flatMap(container ->
                        Stream.concat(container.limits().keySet().stream(), container.requests().keySet().stream()));
    }
}
