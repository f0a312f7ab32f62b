package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.settings.PluginSettings;

/**
 * Makes the allocation tables.
 *
 * @param settings how devices are made visible and shared
 * @param host device nodes of the host
 */
public record AllocationTableFactory(PluginSettings settings, HostDeviceNodes host) {
    /** Returns the table for a device list of a resource; made once per list, not once per call. */
    public AllocationTable table(String resource, DeviceList list) {
        return new AllocationTable(
                new InjectionSelector(settings.allocate(), settings.sharing(), host), resource, list);
    }
}
