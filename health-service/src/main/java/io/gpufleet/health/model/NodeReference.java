package io.gpufleet.health.model;

/**
 * Reference to a Node object.
 *
 * @param name name of the node, the key on every topic
 * @param uid UID of the Node object; empty while unknown
 */
public record NodeReference(String name, String uid) {}
