package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.fault.Overlay;

/**
 * How central verdicts apply.
 *
 * @param overlay the verdict that an earlier process stored
 * @param obey false only records verdicts
 */
public record CentralVerdictSettings(Overlay overlay, boolean obey) {}
