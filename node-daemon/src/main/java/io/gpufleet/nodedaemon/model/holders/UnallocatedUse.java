package io.gpufleet.nodedaemon.model.holders;

import io.gpufleet.nodedaemon.model.device.Reading;

/**
 * The use of one device by processes of one pod that does not hold it, or of no pod.
 *
 * @param deviceUuid of the GPU or of the MIG instance
 * @param podUid empty for processes outside of pods
 * @param processes their number, at least 1
 * @param usedBytes memory that they use together; unavailable unless it is known for each
 */
public record UnallocatedUse(String deviceUuid, String podUid, int processes, Reading<Long> usedBytes) {
    /** Whether both are equal apart from the memory. */
    public boolean sameUseAs(UnallocatedUse other) {
        return deviceUuid.equals(other.deviceUuid) && podUid.equals(other.podUid) && processes == other.processes;
    }
}
