package dev.fenceline.jdbc.repository;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;

/** An interface compiled as most are: without the names of arguments. */
final class Nameless {

    private Nameless() {}

    static Class<?> compiled(String methods) throws IOException, ClassNotFoundException {
        Path folder = Files.createTempDirectory("nameless");
        Path source = folder.resolve("Nameless.java");
        Files.writeString(source, "public interface Nameless { " + methods + " }");
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-d", folder.toString(), source.toString());
        if (failed != 0) {
            throw new AssertionError("The source does not compile: " + failed);
        }
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            return loader.loadClass("Nameless");
        }
    }
}
