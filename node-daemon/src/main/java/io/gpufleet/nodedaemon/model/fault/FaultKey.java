package io.gpufleet.nodedaemon.model.fault;

/**
 * Identity of a fault: observations with equal keys are one fault.
 *
 * @param gpuUuid the GPU; empty when the whole node is concerned
 * @param fault its code
 */
public record FaultKey(String gpuUuid, FaultCode fault) {}
