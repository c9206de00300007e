package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** Misuse does not compile. */
class MisuseTest {

    private static List<String> errorsOf(String statement) {
        String source = "import dev.fenceline.*; import dev.fenceline.jdbc.*;"
                + " class Misuse { void misuse(GuardFence<?> fence, Lease lease, FencedLease fenced, Locks locks)"
                + " throws Exception { LockName name = LockName.of(\"account\", 42); " + statement + " } }";
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Misuse.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        var options = List.of("-proc:none", "-d", "target", "-classpath", System.getProperty("java.class.path"));
        ToolProvider.getSystemJavaCompiler()
                .getTask(null, null, diagnostics, options, null, List.of(file))
                .call();
        return diagnostics.getDiagnostics().stream()
                .filter(found -> found.getKind() == Diagnostic.Kind.ERROR)
                .map(Diagnostic::getCode)
                .toList();
    }

    @Test
    void aFencedLeaseAndAFencedLockAreAccepted() {
        assertThat(errorsOf("fence.claim(fenced); fence.under(locks.fenced(name));"))
                .isEmpty();
        assertThat(errorsOf("fence.claim(locks.fencedAll(name).acquire()); fence.under(locks.fencedAll(name));"))
                .isEmpty();
    }

    @Test
    void anEfficiencyLeaseIsNotAcceptedByAFence() {
        assertThat(errorsOf("fence.claim(lease);")).containsExactly("compiler.err.cant.apply.symbols");
        assertThat(errorsOf("fence.claim(locks.efficiency(name).acquire());"))
                .containsExactly("compiler.err.cant.apply.symbols");
    }

    @Test
    void anEfficiencyLeaseHasNoToken() {
        assertThat(errorsOf("lease.token();")).containsExactly("compiler.err.cant.resolve.location.args");
    }

    @Test
    void anEfficiencyLockIsNotAcceptedByAFence() {
        assertThat(errorsOf("fence.under(locks.efficiency(name));")).containsExactly("compiler.err.cant.apply.symbols");
    }
}
