package io.gpufleet.allocation.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** Compresses short texts that are alike, by what most of them have in common. On any thread. */
final class TextCompression {
    private static final int BUFFER = 2_048;

    private final byte[] common;
    private final byte[] buffer = new byte[BUFFER];
    private final Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
    private final Inflater inflater = new Inflater(true);

    /** Compression by a text of which the others have parts; it is needed to read them again. */
    TextCompression(String common) {
        this.common = common.getBytes(UTF_8);
    }

    synchronized byte[] compress(String text) {
        deflater.reset();
        deflater.setDictionary(common);
        deflater.setInput(text.getBytes(UTF_8));
        deflater.finish();
        var compressed = new ByteArrayOutputStream();
        while (!deflater.finished()) {
            compressed.write(buffer, 0, deflater.deflate(buffer));
        }
        return compressed.toByteArray();
    }

    synchronized String decompress(byte[] compressed) {
        inflater.reset();
        inflater.setDictionary(common);
        inflater.setInput(compressed);
        var text = new ByteArrayOutputStream();
        try {
            while (!inflater.finished()) {
                int length = inflater.inflate(buffer);
                if (length == 0 && !inflater.finished()) {
                    throw new DataFormatException("the end is missing");
                }
                text.write(buffer, 0, length);
            }
        } catch (DataFormatException foreign) {
            throw new IllegalArgumentException("not compressed by the same texts", foreign);
        }
        return text.toString(UTF_8);
    }
}
