package io.gpufleet.compose.kubelet;

/**
 * A pod as the kubelet knows it.
 *
 * @param namespace its namespace
 * @param name its name
 * @param uid metadata.uid; what the checkpoint file is keyed by
 */
public record PodKey(String namespace, String name, String uid) {
    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
