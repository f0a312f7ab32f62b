package io.gpufleet.health.app;

/** Port: who somebody is, and whether they may. Blocks; does not throw. */
public interface Authority {
    /** What is to be done, in Kubernetes' terms of group {@code gpufleet.io}. */
    record Deed(String verb, String resource, String name) {}

    /** Asks about the bearer of a token. */
    Verdict ask(String token, Deed deed);

    /** The answer. */
    sealed interface Verdict {
        /** They may. */
        record Allowed(String user) implements Verdict {}

        /** Nobody knows them. */
        record Unknown() implements Verdict {}

        /** They may not. */
        record Forbidden(String user, String why) implements Verdict {}

        /** It could not be asked; one line. */
        record Unanswered(String why) implements Verdict {}
    }
}
