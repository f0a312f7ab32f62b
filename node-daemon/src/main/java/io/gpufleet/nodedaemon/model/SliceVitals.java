package io.gpufleet.nodedaemon.model;

/** What one MIG instance says of itself now. */
public record SliceVitals(String migUuid, Meters meters) {}
