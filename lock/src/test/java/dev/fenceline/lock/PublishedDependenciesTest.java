package dev.fenceline.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** What a project gets that depends on this module, and on nothing that manages versions: one Netty, and not two mixed. */
class PublishedDependenciesTest {

    private static List<String> netty(InputStream pom) throws Exception {
        Element project = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(pom)
                .getDocumentElement();
        List<String> names = new ArrayList<>();
        NodeList dependencies = project.getElementsByTagName("dependency");
        for (int i = 0; i < dependencies.getLength(); i++) {
            Element dependency = (Element) dependencies.item(i);
            Node place = dependency.getParentNode().getParentNode();
            if (place.isSameNode(project)
                    && text(dependency, "groupId").equals("io.netty")
                    && !text(dependency, "optional").equals("true")
                    && text(dependency, "classifier").isEmpty()) {
                names.add(text(dependency, "artifactId"));
            }
        }
        return names;
    }

    private static String text(Element element, String name) {
        NodeList found = element.getElementsByTagName(name);
        return found.getLength() == 0 ? "" : found.item(0).getTextContent().strip();
    }

    /** Each of its own dependencies that the client brings in a version of its choice is named here, with ours. */
    @Test
    void allOfNettyThatTheClientNeedsIsNamedInOurVersion() throws Exception {
        List<String> ours;
        try (InputStream pom = Files.newInputStream(Path.of("pom.xml"))) {
            ours = netty(pom);
        }
        assertThat(theirs()).hasSizeGreaterThan(2).isSubsetOf(ours);
    }

    private static List<String> theirs() throws Exception {
        String place = "/META-INF/maven/io.lettuce/lettuce-core/pom.xml";
        try (InputStream pom = RedisClient.class.getResourceAsStream(place)) {
            return netty(Objects.requireNonNull(pom, place));
        }
    }
}
