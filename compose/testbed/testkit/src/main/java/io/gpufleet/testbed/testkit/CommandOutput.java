package io.gpufleet.testbed.testkit;

/**
 * The result of a command that ended.
 *
 * @param status exit status
 * @param text standard output and error
 */
public record CommandOutput(int status, String text) {}
