package io.gpufleet.allocation.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.HexFormat;
import java.util.stream.LongStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Proves that a review comes from the API server, which knows the path of the webhook. The path derives from the key in the
 * Secret of the webhook and changes every day, since an API server shows it in its message about a webhook that did not
 * answer. A clock may be wrong by a day. Before the first key nothing is accepted.
 */
public final class AdmissionProof {
    private static final String ALGORITHM = "HmacSHA256";
    private static final long DAY_SECONDS = Duration.ofDays(1).toSeconds();

    private final Clock clock;
    private volatile byte[] key = {};

    /** A proof without a key. */
    public AdmissionProof(Clock clock) {
        this.clock = clock;
    }

    /** Replaces the key. */
    public void replace(String secret) {
        key = secret.getBytes(UTF_8);
    }

    /** Token of today in the path of the webhook. */
    public String pathToken() {
        return hex(today());
    }

    /** True for a path token of today or of a day beside it. */
    public boolean acceptsPathToken(String token) {
        byte[] given = token.getBytes(UTF_8);
        return key.length > 0
                && LongStream.rangeClosed(today() - 1, today() + 1)
                        .anyMatch(day -> MessageDigest.isEqual(given, hex(day).getBytes(UTF_8)));
    }

    private long today() {
        return Math.floorDiv(clock.instant().getEpochSecond(), DAY_SECONDS);
    }

    private String hex(long day) {
        byte[] secret = key;
        if (secret.length == 0) {
            throw new IllegalStateException("the webhook has no key yet");
        }
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(secret, ALGORITHM));
            return HexFormat.of().formatHex(mac.doFinal(("path:" + day + ":").getBytes(UTF_8)));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, impossible);
        }
    }
}
