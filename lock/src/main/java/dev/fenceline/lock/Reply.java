package dev.fenceline.lock;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a script answered: a number where the usual happened, which costs the least, or else words. */
record Reply(long number, List<String> words) {

    /** Whether it is a number alone. */
    boolean isNumber() {
        return words.isEmpty();
    }

    /** Reads it from the connection. */
    static final class Output extends CommandOutput<String, String, Reply> {

        private @Nullable List<String> words;

        Output() {
            super(StringCodec.UTF8, new Reply(0, List.of()));
        }

        @Override
        public void multi(int count) {
            words = new ArrayList<>(Math.max(count, 0));
            output = new Reply(0, words);
        }

        @Override
        public void set(long integer) {
            if (words == null) {
                output = new Reply(integer, List.of());
            } else {
                words.add(Long.toString(integer));
            }
        }

        @Override
        public void set(@Nullable ByteBuffer bytes) {
            String word = bytes == null ? "" : decodeString(bytes);
            if (words == null) {
                output = new Reply(0, List.of(word));
            } else {
                words.add(word);
            }
        }
    }
}
