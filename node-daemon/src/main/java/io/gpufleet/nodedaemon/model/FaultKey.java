package io.gpufleet.nodedaemon.model;

/**
 * What makes two observations the same fault.
 *
 * @param gpuUuid the GPU; empty when the whole node is concerned
 * @param fault what is wrong
 */
public record FaultKey(String gpuUuid, FaultCode fault) {}
