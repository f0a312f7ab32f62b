package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.PluginSettings;

/**
 * The rules by which Allocate is answered.
 *
 * @param settings how devices are made visible and shared
 * @param host what the host has for containers
 */
public record Allocator(PluginSettings settings, HostNodes host) {
    /** The answers for a list of a resource; made once a list, not once a call. */
    public GrantTable table(String resource, DeviceList list) {
        return new GrantTable(new Injections(settings.allocate(), settings.sharing(), host), resource, list);
    }
}
