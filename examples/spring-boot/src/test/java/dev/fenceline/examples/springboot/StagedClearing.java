package dev.fenceline.examples.springboot;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** A clearing that answers when the test says so: until then the request is in its middle, and the process can be stopped there. */
@Component
@Primary
@Profile("staged")
class StagedClearing implements Clearing {

    private final BufferedReader answers = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    @Override
    public void confirm(long account, long cents) {
        System.out.println("ASKED about account " + account);
        try {
            answers.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
