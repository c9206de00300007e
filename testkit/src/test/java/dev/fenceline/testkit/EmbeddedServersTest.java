package dev.fenceline.testkit;

import org.junit.jupiter.api.Tag;

@Tag("server")
class EmbeddedServersTest extends ServersContract {

    @Override
    Servers servers() {
        return Servers.embedded();
    }
}
