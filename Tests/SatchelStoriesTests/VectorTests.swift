import Foundation
import SatchelJSON
import Testing

import SatchelStories

@Suite("The test vectors") struct VectorTests {
  struct Case: Sendable, CustomStringConvertible {
    var name: String
    var story: [UInt8]
    var findings: [String]
    var pathCount: Int64?
    var pointer: String?
    var suggestion: String?
    var description: String { name }
  }

  static let cases: [Case] = {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/vectors/stories.json")
    guard let data = try? Data(contentsOf: path), let root = try? JSONValue(parsing: [UInt8](data)) else {
      return []
    }
    return (root.objectValue?["cases"]?.arrayValue ?? []).compactMap { value in
      guard let object = value.objectValue, let story = object["story"],
        let text = try? story.serialized()
      else { return nil }
      return Case(
        name: object["name"]?.stringValue ?? "", story: text,
        findings: (object["findings"]?.arrayValue ?? []).compactMap(\.stringValue),
        pathCount: object["path_count"]?.intValue, pointer: object["pointer"]?.stringValue,
        suggestion: object["suggestion"]?.stringValue)
    }
  }()

  @Test("There are ten vectors") func count() { #expect(Self.cases.count == 10) }

  @Test("Exactly the expected findings, at their positions", arguments: cases)
  func findings(_ example: Case) throws {
    let story = try Story(example.story, source: .json)
    let report = story.check()
    #expect(report.findings.map(\.code.rawValue) == example.findings)
    if let pointer = example.pointer { #expect(report.findings.first?.pointer == pointer) }
    if let suggestion = example.suggestion { #expect(report.findings.first?.suggestion == suggestion) }
    if let count = example.pathCount {
      #expect(story.pathCount.saturated == count)
      #expect(story.exactPathCount == (count < 0 ? nil : String(count)))
    }
  }
}
