package io.gpufleet.runtime.projection;

/**
 * The right to act, proven by commits: the transactional id fences every older leader, so that a commit shows that there
 * is no newer one. Without a commit for 3 s it is over until the next one.
 */
@FunctionalInterface
public interface Lease {
    /** True while calls to the outside may be begun; cheap, on any thread. */
    boolean held();
}
