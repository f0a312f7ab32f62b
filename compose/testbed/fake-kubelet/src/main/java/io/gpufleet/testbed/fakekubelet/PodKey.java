package io.gpufleet.testbed.fakekubelet;

/**
 * Identity of a pod.
 *
 * @param namespace its namespace
 * @param name its name
 * @param uid metadata.uid, the key in the checkpoint file
 */
public record PodKey(String namespace, String name, String uid) {
    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
