import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Plain mirrors")
struct MirrorPlainTests {
  /// A collection, and the path of its mirror.
  private struct Desk {
    let shelf: RecordShelf
    let courses: RecordCollection
    let path: String

    init() throws {
      shelf = try RecordShelf(onDisk: true)
      courses = try shelf.collection("courses")
      path = try #require(shelf.directory).path + "/courses.json"
    }

    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }
    var text: String {
      get throws { String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self) }
    }
    var json: JSONValue { get throws { try JSONValue(parsing: Array(text.utf8)) } }
  }

  @Test("are an object by id, and with an id member an array, in the order of insertion")
  func newFiles() throws {
    let desk = try Desk()
    for id in ["z", "a", "ü/~\""] { try desk.courses.put(id, ["n": 1]) }
    try desk.courses.put("holds", ["key": "holds", "n": 2])
    try desk.courses.mirror(desk.path)
    #expect(
      try desk.text == """
        {
        "z":{"n":1},
        "a":{"n":1},
        "ü/~\\"":{"n":1},
        "holds":{"key":"holds","n":2}
        }

        """)
    try FileManager.default.removeItem(atPath: desk.path)
    try desk.courses.put("empty", [:])
    try desk.courses.mirror(desk.path, format: .plain(idMember: "key"))
    #expect(
      try desk.text == """
        [
        {"key":"z","n":1},
        {"key":"a","n":1},
        {"key":"ü/~\\"","n":1},
        {"key":"holds","n":2},
        {"key":"empty"}
        ]

        """)
    #expect(try desk.courses.verifyMirror().isEmpty)
    // Documents that were put without their ids are returned without them.
    try desk.courses.put("a", ["n": 2])
    try desk.courses.delete("empty")
    #expect(try desk.courses.verifyMirror().isEmpty)
    try desk.write(try desk.text.replacingOccurrences(of: #""n":2"#, with: #""n":3"#))
    #expect(try desk.courses.rebuildFromMirror() == 2)
    #expect(try desk.courses.text("a") == #"{"n":3}"#)
    #expect(try desk.courses.text("holds") == #"{"key":"holds","n":3}"#)
    try desk.shelf.expectSound()
  }

  @Test(
    "of another program are adopted without an option, and keep their layout",
    arguments: [
      ("[]", "[\n\n]\n", "[\n{\"id\":\"new\",\"n\":9}\n]\n"),
      ("{}", "{\n\n}\n", "{\n\"new\":{\"n\":9}\n}\n"),
      (
        #"[ {"title": "B", "id": "b", "n": [1, 2.50]}, {"id": 7, "title": "A"} ]"#,
        "[\n{\"title\":\"B\",\"id\":\"b\",\"n\":[1,2.50]},\n{\"id\":7,\"title\":\"A\"}\n]\n",
        "[\n{\"title\":\"B\",\"id\":\"b\",\"n\":[1,2.50]},\n{\"id\":7,\"title\":\"A\"},\n{\"id\":\"new\",\"n\":9}\n]\n"
      ),
      (
        #"[{"_id":"b","n":1}]"#, "[\n{\"_id\":\"b\",\"n\":1}\n]\n",
        "[\n{\"_id\":\"b\",\"n\":1},\n{\"_id\":\"new\",\"n\":9}\n]\n"
      ),
      (
        "{\r\n\t\"b\" : { \"n\" : 1 },\r\n\t\"a\" : {}\r\n}", "{\n\"b\":{\"n\":1},\n\"a\":{}\n}\n",
        "{\n\"b\":{\"n\":1},\n\"a\":{},\n\"new\":{\"n\":9}\n}\n"
      ),
    ])
  func adopted(text: String, kept: String, continued: String) throws {
    let desk = try Desk()
    try desk.write(text)
    let before = try desk.json
    let report = try desk.courses.mirror(desk.path)
    let count = try desk.courses.count()
    #expect(report.quarantinePath == nil && report.imported == count)
    #expect(try desk.json == before)
    if report.imported > 0 { #expect(try desk.text == kept) }
    try desk.courses.put("new", ["n": 9])
    #expect(try desk.courses.verifyMirror().isEmpty)
    #expect(try desk.text == continued)
    // Without naming the member again.
    let again = try desk.shelf.another().collection("courses")
    try again.mirror(desk.path)
    #expect(try desk.text == continued)
    try desk.shelf.expectSound()
  }

  @Test(
    "that cannot be parsed are rejected with location and cause, and not changed",
    arguments: [
      ("", "line 1, column 1"), ("7", "neither an array of objects nor an object"),
      ("[1]", "at /0: not an object"), (#"{"a":{},"b":[]}"#, "at /b: not an object"),
      ("[{\"id\":\"a\"},\n{\"title\":1}]", #"line 2, column 1, at /1: has no "id"; id_member"#),
      (#"[{"id":null}]"#, "at /0/id: an id must be a string or an integer"),
      (#"[{"id":""}]"#, "at /0/id: "), (#"{"":{}}"#, "at /: "), (#"[{"id":"\u0007"}]"#, "at /0/id: "),
      (#"[{"id":1},{"id":"1"}]"#, #"at /1: "1" occurs twice"#), (#"{"a":{},"a":{}}"#, "at /a: "),
      (#"[{"id":"a"}"#, "line 1, column"), (#"[{"id":"a"}]]"#, "line 1, column"),
      (String(repeating: "[", count: 100_000), "line 1, column 513"),
      (#"{"format":1,"collection":"courses","version":1,"records":[]}"#, #"format="checksummed""#),
    ])
  func refused(text: String, says: String) throws {
    let desk = try Desk()
    try desk.courses.put("c1", [:])
    try desk.write(text)
    for prefer in [nil, MirrorPreference.file] {
      let found = message(.invalid) { try desk.courses.mirror(desk.path, prefer: prefer) }
      #expect(found.contains(says) && found.contains(desk.path), "\(found)")
    }
    #expect(try desk.text == text && desk.courses.ids() == ["c1"])
    let kept = try #require(try desk.courses.mirror(desk.path, prefer: .store).quarantinePath)
    #expect(try Data(contentsOf: URL(filePath: kept)) == Data(text.utf8))
    // The form is kept where it could be detected.
    #expect(try [["c1": [:]], [["id": "c1"]]].contains(desk.json))
  }

  @Test("that are too large are refused, also sparse ones")
  func tooLarge() throws {
    let desk = try Desk()
    try desk.write("[]")
    #expect(truncate(desk.path, off_t(MirrorFile.maximumSize) + 1) == 0)
    #expect(
      message(.invalid) { try desk.courses.mirror(desk.path) }.contains("a mirror has at most 268435456"))
  }

  @Test(
    "a document with another value where the array has the id is refused by name, before anything changes")
  func noPlace() throws {
    let desk = try Desk()
    try desk.courses.put("c1", ["id": "other"])
    try desk.write(#"[{"id":"c2"}]"#)
    let text = try desk.text
    for prefer in [nil, MirrorPreference.file, .store] {
      let found = message(.invalid) { try desk.courses.mirror(desk.path, prefer: prefer) }
      #expect(found.contains("courses/c1: at /id: is not the record's id"), "\(found)")
    }
    #expect(try desk.text == text && desk.courses.ids() == ["c1"])
    // With the file first, the write of such a document is refused; with the store first, it is reported.
    try desk.courses.delete("c1")
    try desk.courses.mirror(desk.path, mode: .fileFirst)
    #expect(message(.invalid) { try desk.courses.put("c3", ["id": 4]) }.contains("courses/c3: at /id"))
    try desk.courses.mirror(desk.path)
    try desk.courses.put("c3", ["id": 4])
    #expect(message(.invalid) { try desk.shelf.store.completeMirrors() }.contains("courses/c3: at /id"))
    #expect(try desk.courses.verifyMirror().map(\.id) == ["c3"])
    #expect(try desk.courses.ids() == ["c2", "c3"])
  }

  @Test("violate the schema: nothing is imported, the file is kept")
  func violating() throws {
    let desk = try Desk()
    let strict = try desk.shelf.collection(
      "strict", schema: ["properties": ["n": ["type": "integer"]]])
    try desk.write(#"{"a":{"n":1},"b":{"n":"x"}}"#)
    let text = try desk.text
    #expect(message(.constraint) { try strict.mirror(desk.path) }.hasPrefix("strict/b: /n: "))
    #expect(try strict.count() == 0 && desk.text == text)
  }

  @Test("the side that is preferred wins, and the file is moved aside")
  func preferred() throws {
    let desk = try Desk()
    try desk.courses.put("both", ["n": 1])
    try desk.courses.put("here", ["n": 1])
    let text = #"[{"n":2,"id":"both"},{"id":"there"}]"#
    try desk.write(text)
    let found = message(.invalid) { try desk.courses.mirror(desk.path) }
    for part in ["1 only in the file (there)", "1 different (both at /n)", "1 only in the store (here)"] {
      #expect(found.contains(part), "\(found)")
    }
    let kept = try #require(try desk.courses.mirror(desk.path, prefer: .store).quarantinePath)
    #expect(try Data(contentsOf: URL(filePath: kept)) == Data(text.utf8))
    #expect(try desk.json == [["id": "both", "n": 1], ["id": "here", "n": 1]])
    try desk.write(text)
    #expect(try desk.courses.mirror(desk.path, prefer: .file).imported == 2)
    #expect(try desk.courses.text("both") == #"{"n":2}"#)
    // A superset of the store would be imported; the store is preferred here.
    try desk.write(#"[{"id":"both","n":2},{"id":"here","n":1},{"id":"there"},{"id":"more"}]"#)
    #expect(try desk.courses.mirror(desk.path, prefer: .store).quarantinePath != nil)
    #expect(try desk.courses.ids() == ["both", "here", "there"])
  }
}
