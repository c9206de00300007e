package dev.fenceline.lock;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Lua script from a file beside this class, and the digest by which Redis keeps it. */
record Script(String source, String digest) {

    private static final Pattern INCLUDE = Pattern.compile("^--#include (\\S+)$", Pattern.MULTILINE);

    static final Script ACQUIRE = load("acquire.lua");
    static final Script RENEW = load("renew.lua");
    static final Script RELEASE = load("release.lua");
    static final Script FORCE = load("force.lua");
    static final Script LOOK = load("look.lua");
    static final Script PROBE = load("probe.lua");
    static final Script REDLOCK = load("redlock-known.lua");

    /** Loads a file, with the files that its {@code --#include} lines name in their places. */
    static Script load(String file) {
        return of(text(file));
    }

    private static String text(String file) {
        return INCLUDE.matcher(read(file)).replaceAll(include -> Matcher.quoteReplacement(text(include.group(1))));
    }

    private static String read(String file) {
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("The file " + file + " is missing from the jar of fenceline-lock.");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Script of(String source) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(source.getBytes(StandardCharsets.UTF_8));
            return new Script(source, HexFormat.of().formatHex(digest));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-1; Redis names scripts by it.", e);
        }
    }
}
