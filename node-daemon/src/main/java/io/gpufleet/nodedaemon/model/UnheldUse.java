package io.gpufleet.nodedaemon.model;

/**
 * The use of one device by processes of one pod that does not hold it, or of no pod.
 *
 * @param deviceUuid of the GPU or of the MIG instance
 * @param podUid empty for processes outside of pods
 * @param processes how many, at least 1
 * @param usedBytes memory that they have together; unavailable unless it is known of each
 */
public record UnheldUse(String deviceUuid, String podUid, int processes, Reading<Long> usedBytes) {
    /** Whether it says the same, whatever the memory. */
    public boolean sameUseAs(UnheldUse other) {
        return deviceUuid.equals(other.deviceUuid) && podUid.equals(other.podUid) && processes == other.processes;
    }
}
