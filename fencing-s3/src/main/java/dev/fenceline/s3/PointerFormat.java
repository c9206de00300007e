package dev.fenceline.s3;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** A mark, and after it a line for each object that says where its data lies. */
final class PointerFormat implements Format<List<DataObject>> {

    /** The longest document that is read; a thousand objects with names of a few hundred bytes. */
    static final int MAX_DOCUMENT = 1024 * 1024;

    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern LENGTH = Pattern.compile("0|[1-9][0-9]{0,17}");

    @Override
    public S3Format kind() {
        return S3Format.POINTER;
    }

    @Override
    public List<DataObject> nothing() {
        return List.of();
    }

    @Override
    public Attributes attributes() {
        return Attributes.none().withContentType("application/vnd.fenceline.pointer");
    }

    @Override
    public Optional<String> contentEncoding() {
        return Optional.empty();
    }

    @Override
    public byte[] encode(Document<List<DataObject>> document) {
        StringBuilder text = new StringBuilder(document.header().text());
        for (DataObject object : document.payload()) {
            text.append("object ")
                    .append(Percent.encode(object.name()))
                    .append(' ')
                    .append(object.length())
                    .append(' ')
                    .append(object.sha256())
                    .append(' ')
                    .append(Percent.encode(object.key()))
                    .append('\n');
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public Document<List<DataObject>> decode(byte[] bytes, Attributes attributes) {
        if (bytes.length > MAX_DOCUMENT) {
            throw new IllegalArgumentException("it is longer than " + MAX_DOCUMENT + " bytes");
        }
        Iterator<String> lines = Lines.of(bytes).iterator();
        Header header = Header.parse(lines);
        if (header.format() != S3Format.POINTER) {
            throw new IllegalArgumentException(
                    "it is of the format '" + header.format().word() + "'");
        }
        List<DataObject> objects = new ArrayList<>();
        Set<String> names = new HashSet<>();
        while (lines.hasNext()) {
            DataObject object = object(lines.next());
            if (!names.add(object.name())) {
                throw new IllegalArgumentException("it names an object twice");
            }
            objects.add(object);
        }
        if (objects.isEmpty() != (header.state() == Header.State.NONE)) {
            throw new IllegalArgumentException("its state and its objects contradict each other");
        }
        return new Document<>(header, List.copyOf(objects), attributes);
    }

    private static DataObject object(String line) {
        String[] words = line.split(" ", -1);
        if (words.length != 5
                || !words[0].equals("object")
                || !LENGTH.matcher(words[2]).matches()
                || !SHA256.matcher(words[3]).matches()) {
            throw new IllegalArgumentException("a line in it names no object");
        }
        return new DataObject(Percent.decode(words[1]), Percent.decode(words[4]), Long.parseLong(words[2]), words[3]);
    }
}
