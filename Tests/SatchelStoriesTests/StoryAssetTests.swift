import Foundation
import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelStories

private typealias Small = RulesStory

@Suite("A story names pictures and sounds")
struct StoryAssetTests {
  private static let hash = String(repeating: "0a", count: 32)

  /// A story whose first segment has more members.
  private static func story(_ members: String) -> [UInt8] {
    Small.of(Small.segment("a", to: "b", more: ",\(members)"), Small.ending("b")).json
  }

  @Test(
    "by a path, a reference, or several of them",
    arguments: [
      #""image":null"#, #""image":"a.png","sound":["b.ogg","c.mp3"]"#, #""image":[]"#,
      #""image":{"_asset":{"sha256":"\#(hash)","size":3,"more":1},"alt":"A well"}"#,
      #""sound":["a.ogg",{"_asset":{"url":"https://example.org/a.ogg"}}]"#,
    ])
  func members(members: String) throws {
    #expect(try StoryReport.check(Self.story(members), source: .json).findings.isEmpty)
  }

  @Test(
    "and by nothing else",
    arguments: [
      (#""image":1"#, "/segments/0/image"), (#""sound":true"#, "/segments/0/sound"),
      (#""image":{}"#, "/segments/0/image"), (#""image":{"_asset":"x"}"#, "/segments/0/image"),
      (#""image":["a.png",2]"#, "/segments/0/image/1"), (#""image":[["a.png"]]"#, "/segments/0/image/0"),
      (#""sound":[{"_asset":{"sha256":"0A"}}]"#, "/segments/0/sound/0"),
      (#""sound":{"_asset":{"url":1,"sha256":"\#(hash)"}}"#, "/segments/0/sound"),
      (#""sound":{"_asset":{"sha256":"\#(String(repeating: "0A", count: 32))"}}"#, "/segments/0/sound"),
    ])
  func wrongTypes(members: String, pointer: String) throws {
    let findings = try StoryReport.check(Self.story(members), source: .json).findings
    #expect(findings.map { "\($0.code.rawValue) \($0.pointer)" } == ["wrong-type \(pointer)"])
    #expect(findings[0].message.contains("must be a path"), "\(findings[0].message)")
    // The story itself, and a choice, have the same members.
    let header = try Small.with("image", "1").findings()
    #expect(header == ["wrong-type /image"])
    let choice = #"{"id":"c","text":"On","nextSegmentId":"b","sound":[1]}"#
    let other = try Small.of(Small.segment("a", choices: [choice]), Small.ending("b")).findings()
    #expect(other == ["wrong-type /segments/0/choices/0/sound/0"])
  }

  @Test("whose references are listed with their pointers, also those in the app's own members")
  func references() throws {
    let asset = #"{"_asset":{"sha256":"\#(Self.hash)"}}"#
    let members = #""image":["a.png",\#(asset)],"x":{"a/b":[{"\u005fasset":{"url":"https://e.org"}}]}"#
    let story = try Story(Self.story(members), source: .json)
    let found = try StoryAssets.references(in: story)
    #expect(found.map(\.pointer) == ["/segments/0/image/1", "/segments/0/x/a~1b/0"])
    #expect(found.map(\.asset) == [["sha256": .string(Self.hash)], ["url": "https://e.org"]])
    #expect(try StoryAssets.references(in: Story(RulesStory().json, source: .json)).isEmpty)
    // A string that looks like one is none, and neither is a value that is no object.
    let others = try Story(Self.story(#""x":"\"_asset\":{}","y":{"_asset":3}"#), source: .json)
    #expect(try StoryAssets.references(in: others).isEmpty)
  }

  @Test(
    "by paths below the folder of the story",
    arguments: [
      ("a.png", ["a.png"]), ("./a//b/../c.png", ["a", "c.png"]), ("", []), (".", []), ("a/..", []),
      ("a b/ä.png", ["a b", "ä.png"]), ("a.png?x", ["a.png?x"]), ("a/b:c", ["a", "b:c"]),
    ])
  func paths(path: String, names: [String]) {
    #expect(StoryPath(path.utf8) == .names(names.map { Array($0.utf8) }))
  }

  @Test("by nothing that leads out of it, and by addresses, which are not looked for")
  func outside() {
    for path in [
      "/etc/passwd", "..", "../a.png", "a/../../b", "\\\\host\\a", "C:\\a.png", "c:/a", "file:///a", "FILE:a",
    ] {
      #expect(StoryPath(path.utf8) == .outside, "\(path)")
    }
    for path in [
      "http://e.org/a", "HTTPS://e.org", "data:image/png;base64,AA", "//e.org/a", "ipfs:x", "a+b.c-d:",
    ] {
      #expect(StoryPath(path.utf8) == .address, "\(path)")
    }
  }

  @Test("A file that is not there is a finding, with what is wrong")
  func missing() throws {
    let place = try TemporaryDirectory()
    for folder in ["pictures", "deep/er"] {
      try FileManager.default.createDirectory(
        at: place.url.appending(path: folder), withIntermediateDirectories: true)
    }
    for file in ["well.png", "pictures/Rim.png", "deep/er/x.ogg"] {
      try Data().write(to: place.url.appending(path: file))
    }
    func link(_ name: String, to target: String) throws {
      try FileManager.default.createSymbolicLink(
        atPath: place.url.appending(path: name).path, withDestinationPath: target)
    }
    try link("deep/er/up", to: "../../pictures/./Rim.png")
    try link("door", to: "deep//er")
    try link("out", to: "../")
    try link("far", to: "/etc/passwd")
    try link("circle", to: "circle")
    try link("gone", to: "nowhere")

    let expected: [(path: String, reason: String?, suggestion: String?)] = [
      ("well.png", nil, nil), ("./pictures/../pictures/Rim.png", nil, nil), ("door/x.ogg", nil, nil),
      ("door/up", nil, nil), ("https://example.org/nowhere.png", nil, nil),
      ("Well.png", "which does not exist", "well.png"),
      ("pictures/rim.PNG", "which does not exist", "pictures/Rim.png"),
      ("PICTURES/Rim.png", "which does not exist", "pictures/Rim.png"),
      ("well.png/x", "which does not exist", nil), ("gone", "which does not exist", nil),
      ("a\u{0}b", "which does not exist", nil), ("pictures", "which is a directory", nil),
      (".", "which is a directory", nil), ("", "which is empty", nil),
      ("out/x", "which is a link that leads out of the folder of the story", nil),
      ("far", "which is a link that leads out of the folder of the story", nil),
      ("circle", "which is a link that leads out of the folder of the story", nil),
      (
        "../x", "which is not in the folder of the story: give a path that is relative to the story's file",
        nil
      ),
      (
        "/etc/passwd",
        "which is not in the folder of the story: give a path that is relative to the story's file", nil
      ),
    ]
    let list = JSONValue.array(expected.map { .string($0.path) })
    let text = Self.story(#""image":\#(try list.text)"#)
    let findings = try StoryReport.check(text, source: .json, folder: place.url.path).findings
    let missing = expected.enumerated().filter { $1.reason != nil }
    #expect(findings.map(\.pointer) == missing.map { "/segments/0/image/\($0.offset)" })
    for (finding, (_, expected)) in zip(findings, missing) {
      #expect(finding.code == .missingAsset && finding.severity == .error)
      #expect(
        finding.message == #"image of segment "a" names "\#(expected.path)", \#(expected.reason ?? "")"#)
      #expect(finding.suggestion == expected.suggestion)
    }
    // Without a folder, and with one that cannot be read, nothing is known.
    #expect(try StoryReport.check(text, source: .json).findings.isEmpty)
    #expect(
      try StoryReport.check(text, source: .json, folder: "/nowhere").findings.filter { $0.suggestion != nil }
        .isEmpty)
  }

  @Test("The findings of the story, of segments and of choices are in the order of the text")
  func order() throws {
    let place = try TemporaryDirectory()
    let choice = #"{"id":"c","text":"On","nextSegmentId":"nowhere","sound":"c.ogg"}"#
    var story = Small.of(
      Small.segment("a", choices: [Small.choice("1", to: "b"), choice], more: #","image":"\u0061.png""#),
      Small.ending("b"))
    story["image"] = "\"cover.png\""
    story.header.removeAll { $0.key == "author" }
    let file = place.url.appending(path: "t.json")
    try Data(story.json).write(to: file)
    let opened = try Story(story.json, source: .json, folder: place.url.path)
    let findings = opened.check().findings
    #expect(
      findings.map { "\($0.code.rawValue) \($0.pointer)" } == [
        "missing-field ", "missing-asset /image", "missing-asset /segments/0/image",
        "broken-choice /segments/0/choices/1/nextSegmentId", "missing-asset /segments/0/choices/1/sound",
      ])
    #expect(findings[1].message == #"image of the story names "cover.png", which does not exist"#)
    #expect(findings[4].message.hasPrefix(#"sound of choice "c" of segment "a" names "c.ogg""#))
    let text = String(decoding: story.json, as: UTF8.self)
    for finding in findings where finding.code == .missingAsset {
      #expect(Array(text.utf8)[finding.position.offset] == UInt8(ascii: "\""))
    }
  }

  @Test("A library finds them whenever it checks a story, though its file is the same")
  func library() throws {
    let fixture = try LibraryFixture()
    let text = LibraryFixture.story("a").replacingOccurrences(
      of: #""id":"s0","#, with: #""id":"s0","image":"pictures/a.png","#)
    try fixture.put("a.json", text)
    try fixture.put("b.json", LibraryFixture.story("b"))
    try fixture.settle()
    let library = try fixture.library()
    func check(isThere: Bool) throws {
      let listing = try library.loadAll(checked: true)
      #expect(listing.stories.map(\.id) == (isThere ? ["a", "b"] : ["b"]))
      #expect(listing.problems.map(\.findings.first?.code) == (isThere ? [] : [.missingAsset]))
      #expect(listing.stories.allSatisfy { $0.errors == 0 })
      #expect(try library.loadAll().stories.count == 2)
      let error = failure { try library.story("a", checked: true) }
      #expect((error?.message.contains("missing-asset") ?? false) != isThere)
      #expect(try library.story("a").check().isSound == isThere)
    }
    try check(isThere: false)
    let folder = fixture.url("pictures")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try Data().write(to: folder.appending(path: "a.png"))
    try check(isThere: true)
    try FileManager.default.removeItem(at: folder)
    try check(isThere: false)
    #expect(try library.refresh().parsed == 0)
  }
}
