package io.gpufleet.runtime.kubernetes.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ProtocolException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers as servers and proxies may write them. */
class HttpAnswerReaderTest {
    private static HttpAnswer read(String bytes, int atOnce) throws IOException {
        return reader(bytes, atOnce).read();
    }

    /** Hands over so many bytes in each read. */
    private static HttpAnswerReader reader(String text, int atOnce) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        int[] position = {0};
        return new HttpAnswerReader((buffer, offset, length) -> {
            int part = Math.min(Math.min(length, atOnce), bytes.length - position[0]);
            System.arraycopy(bytes, position[0], buffer, offset, part);
            position[0] += part;
            return part == 0 ? -1 : part;
        });
    }

    private static String body(HttpAnswer answer) {
        return new String(answer.body(), ISO_8859_1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 4096})
    void bodyOfAKnownLengthIsReadHoweverItArrives(int atOnce) throws IOException {
        HttpAnswer answer =
                read("HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\nWarning: a\r\nwarning: b\r\n\r\nhello", atOnce);

        assertThat(answer.code()).isEqualTo(200);
        assertThat(body(answer)).isEqualTo("hello");
        assertThat(answer.headers().get("Warning")).isEqualTo(List.of("a", "b"));
        assertThat(answer.keepsConnection()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 4096})
    void chunksAreJoinedAndTheirTrailersSkipped(int atOnce) throws IOException {
        HttpAnswerReader reader = reader(
                "HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\nA\r\nlo world!!\r\n0\r\nT: 1\r\n\r\n"
                        + "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx",
                atOnce);

        assertThat(body(reader.read())).isEqualTo("hello world!!");
        assertThat(body(reader.read())).isEqualTo("x");
    }

    @Test
    void interimAnswersAreSkipped() throws IOException {
        HttpAnswer answer = read(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
                4096);

        assertThat(answer.code()).isEqualTo(204);
        assertThat(answer.body()).isEmpty();
        assertThat(answer.keepsConnection()).isTrue();
    }

    @Test
    void bodyWithoutALengthEndsWithTheConnection() throws IOException {
        HttpAnswer answer = read("HTTP/1.1 200 OK\r\n\r\nhello", 2);

        assertThat(body(answer)).isEqualTo("hello");
        assertThat(answer.keepsConnection()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"
            })
    void connectionThatItsServerEndsIsNotKept(String bytes) throws IOException {
        assertThat(read(bytes, 4096).keepsConnection()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
                "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                "HTTP/1.1 101 Switching Protocols\r\n\r\n",
                "HTTP/2 200\r\n\r\n",
                "HTTP/1.1 20 OK\r\n\r\n",
                "nonsense\r\n\r\n"
            })
    void whatIsNoAnswerIsRefused(String bytes) {
        assertThatThrownBy(() -> read(bytes, 4096)).isInstanceOf(IOException.class);
    }

    @Test
    void endlessHeadIsRefused() {
        HttpAnswerReader endless = new HttpAnswerReader((buffer, offset, length) -> {
            Arrays.fill(buffer, offset, offset + length, (byte) 'x');
            return length;
        });

        assertThatThrownBy(endless::read).isInstanceOf(ProtocolException.class);
    }
}
