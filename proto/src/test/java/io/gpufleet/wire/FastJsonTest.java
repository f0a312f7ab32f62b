package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.wire.json.FastJson;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Wherever the fast form of proto3 JSON has an answer, it is that of {@link JsonFormat}. */
@NullMarked
class FastJsonTest {
    /** The kept seed, and one that each run draws anew, or is given to repeat a failure that named it. */
    private static final List<Long> SEEDS =
            List.of(20261122L, Long.getLong("gpufleet.fuzz.seed", new Random().nextLong()));

    private static final int MESSAGES = 20;
    private static final int CHANGED_BYTES = 20;
    private static final JsonFormat.Printer PRINTER = JsonFormat.printer().omittingInsignificantWhitespace();
    private static final JsonFormat.Parser STRICT = JsonFormat.parser();
    private static final JsonFormat.Parser LENIENT = JsonFormat.parser().ignoringUnknownFields();

    @ParameterizedTest
    @EnumSource
    void printsAndParsesEveryTypeAsJsonFormatDoes(EventType type) throws Exception {
        for (long seed : SEEDS) {
            printsAndParsesAsJsonFormatDoes(type, seed);
        }
    }

    private static void printsAndParsesAsJsonFormatDoes(EventType type, long seed) throws Exception {
        var random = new Random(seed);
        var messages = new RandomMessages(random);
        for (int i = 0; i < MESSAGES; i++) {
            // Given
            Message message = messages.ofType(type.prototype());
            String expected = PRINTER.print(message);

            // When
            Optional<byte[]> printed = FastJson.print(message);
            Optional<Message> parsed = FastJson.parse(expected.getBytes(UTF_8), type.prototype());
            Optional<Message> spaced =
                    FastJson.parse(JsonFormat.printer().print(message).getBytes(UTF_8), type.prototype());

            // Then
            assertThat(printed.map(json -> new String(json, UTF_8)))
                    .as("seed %d", seed)
                    .contains(expected);
            assertThat(parsed).as("seed %d", seed).contains(message);
            assertThat(spaced).as("seed %d", seed).contains(message);
        }
    }

    @ParameterizedTest
    @EnumSource
    void changedTextIsParsedAsByJsonFormatOrLeftToIt(EventType type) throws Exception {
        for (long seed : SEEDS) {
            changedTextIsParsedAsByJsonFormatOrLeftToIt(type, seed);
        }
    }

    private static void changedTextIsParsedAsByJsonFormatOrLeftToIt(EventType type, long seed) throws Exception {
        var random = new Random(seed);
        var messages = new RandomMessages(random);
        for (int i = 0; i < MESSAGES; i++) {
            byte[] json = PRINTER.print(messages.ofType(type.prototype())).getBytes(UTF_8);
            for (int change = 0; change < CHANGED_BYTES; change++) {
                // Given
                byte[] changed = json.clone();
                changed[random.nextInt(json.length)] = (byte) "{}[]\",:\\019-.eEtfnul TZ".charAt(random.nextInt(23));

                // Then
                assertSameAsJsonFormat(changed, type.prototype());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "{}",
                " {\n}\t",
                "{}{}",
                "[]",
                "null",
                "{\"node\":\"a\",\"node\":\"b\"}",
                "{\"node\":null}",
                "{\"node\":\"a\",}",
                "{'node':'a'}",
                "{node:\"a\"}",
                "{\"node\":\"\\u0041\\u00e4\\u2028\\ud834\\udd22\\/\"}",
                "{\"node\":\"\\ud834\"}",
                "{\"node\":\"<>&='\u007f\u2028\"}",
                "{\"node\":7}",
                "{\"revision\":\"18446744073709551615\"}",
                "{\"revision\":\"18446744073709551616\"}",
                "{\"revision\":18446744073709551615}",
                "{\"revision\":\"-1\"}",
                "{\"revision\":-1}",
                "{\"revision\":\"-0\"}",
                "{\"revision\":1.0}",
                "{\"revision\":1e3}",
                "{\"revision\":\"007\"}",
                "{\"revision\":\"0000000000000000000000007\"}",
                "{\"revision\":\" 7\"}",
                "{\"presence\":1}",
                "{\"presence\":\"PRESENCE_LATER\"}",
                "{\"presenceSince\":\"2026-02-29T00:00:00Z\"}",
                "{\"presenceSince\":\"2024-02-29T23:59:60Z\"}",
                "{\"presenceSince\":\"2024-02-29T24:00:00Z\"}",
                "{\"presenceSince\":\"2024-02-29T23:59:59.1Z\"}",
                "{\"presenceSince\":\"2024-02-29T23:59:59.1234567891Z\"}",
                "{\"presenceSince\":\"0000-01-01T00:00:00Z\"}",
                "{\"presenceSince\":\"1969-12-31T23:59:59.999999999Z\"}",
                "{\"presenceSince\":\"2024-02-29T23:59:59+01:00\"}",
                "{\"presence_since\":\"2024-02-29T23:59:59Z\"}",
                "{\"deviceVerdicts\":{\"a\":\"b\",\"a\":\"c\"}}",
                "{\"deviceVerdicts\":{\"a\":null}}",
                "{\"labelConflicts\":[\"a\",null]}",
                "{\"labelConflicts\":[\"a\",]}",
                "{\"labelConflicts\":[]}",
                "{\"later\":{\"a\":[1,{}]}}"
            })
    void uncommonTextIsParsedAsByJsonFormatOrLeftToIt(String json) throws Exception {
        assertSameAsJsonFormat(json.getBytes(UTF_8), NodeView.getDefaultInstance());
        assertSameAsJsonFormat(json.getBytes(UTF_8), NodeVerdict.getDefaultInstance());
    }

    private static void assertSameAsJsonFormat(byte[] json, Message prototype) throws Exception {
        Optional<Message> parsed = FastJson.parse(json, prototype);
        if (parsed.isPresent()) {
            assertThat(parsed).as(new String(json, UTF_8)).contains(parse(STRICT, json, prototype));
            assertThat(parsed).as(new String(json, UTF_8)).contains(parse(LENIENT, json, prototype));
        }
    }

    private static Message parse(JsonFormat.Parser parser, byte[] json, Message prototype)
            throws InvalidProtocolBufferException {
        Message.Builder builder = prototype.newBuilderForType();
        parser.merge(new String(json, UTF_8), builder);
        return builder.build();
    }
}
