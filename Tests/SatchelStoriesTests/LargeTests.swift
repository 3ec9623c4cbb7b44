import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelStories

/// As large as named in `make check`, and a tenth in `make test`, whose build is not optimized.
@Suite("Large stories") struct LargeTests {
  @Test("A chain of a million segments does not overflow the stack") func chain() throws {
    let count = Portion.count(1_000_000, parts: 10)
    let story = try CountStory.chain(count).read()
    #expect(story.segmentCount == count)
    #expect(story.pathCount == .finite(1, isExact: true))
    #expect(story.segment("s\(count - 1)")?.choices.isEmpty == true)
    let report = story.check()
    // Only the estimate is wrong: a path has as many words as segments.
    #expect(report.findings.map(\.code) == [.readingTime])
    #expect(report.statistics.shortestPath == count && report.statistics.longestPath == count)
    #expect(report.statistics.words == count)
  }

  @Test("A chain whose choices lead backwards in the file, which sweeps do not finish, has no trap")
  func backwards() throws {
    let count = 10_000
    func segment(_ index: Int, to target: Int?) -> String {
      let choices = target.map { #"{"id":"c\#(index)","text":"on","nextSegmentId":"s\#($0)"}"# } ?? ""
      return
        #"{"id":"s\#(index)","text":"x","isAuthenticPath":true,"isEnding":\#(target == nil),"choices":[\#(choices)]}"#
    }
    // The first leads to the last, each to the one before it, and the second is the ending.
    let segments = (0..<count).map { segment($0, to: $0 == 0 ? count - 1 : $0 == 1 ? nil : $0 - 1) }
    let report = try StoryReport.check(
      Array("{\"segments\":[\(segments.joined(separator: ","))]}".utf8), source: .json)
    #expect(report.findings.allSatisfy { $0.code == .missingField })
    #expect(report.statistics.longestPath == count)
  }

  @Test("Findings over the maximum are counted as omitted")
  func omitted() throws {
    let text = Array(#"{"id":"t","segments":[0,0,0,0,0]}"#.utf8)
    try text.withUnsafeBytes { text in
      let analysis = StoryAnalysis(try StoryReader.read(text))
      let whole = StoryReport(analysis)
      let cut = StoryReport(analysis, maxFindings: 3)
      #expect(whole.omittedCount == 0 && whole.findings.count > 5)
      #expect(cut.findings == Array(whole.findings.prefix(3)))
      #expect((cut.errorCount, cut.warningCount) == (whole.errorCount, whole.warningCount))
      #expect(cut.omittedCount == whole.findings.count - 3 && !cut.isSound)
      #expect(try JSONValue(parsing: cut.serialized()) == cut.json)
    }
  }

  @Test("A hundred thousand findings in one line of fifty megabytes") func oneLine() throws {
    var text = Array(
      """
      {"id":"t","title":"T","author":"A","synopsis":"S","coverImageName":"c","estimatedReadingMinutes":1,\
      "ageRange":"5-8","tags":[],"isPurchased":false,"segments":[\
      {"id":"s","text":"x","isAuthenticPath":true,"isEnding":true,"choices":[]}
      """.utf8)
    let filling = String(repeating: "word and ", count: 50)
    let count = Portion.count(100_000, parts: 10)
    var expected: [Int] = []
    expected.reserveCapacity(count)
    for index in 0..<count {
      text += ",".utf8
      expected.append(text.count + 1)
      text +=
        "{\"id\":\"u\(index)\",\"text\":\"\(filling)\",\"isAuthenticPath\":false,\"choices\":[],\"isEnding\":true}"
        .utf8
    }
    text += "]}".utf8
    #expect(text.count > 500 * count)
    let findings = try StoryReport.check(text, source: .json).findings
    #expect(findings.count == count)
    #expect(findings.allSatisfy { $0.code == .unreachable && $0.position.line == 1 })
    #expect(findings.map(\.position.column) == expected)
    #expect(findings.last?.pointer == "/segments/\(count)")
  }

  @Test("A name of a megabyte is not repeated in each of many messages") func longNames() throws {
    let name = String(repeating: "ä", count: 500_000)
    var text = Array(
      "{\"segments\":[{\"id\":\"\(name)\",\"text\":\"x\",\"isAuthenticPath\":true,\"isEnding\":true,\"choices\":["
        .utf8)
    text +=
      (0..<2_000).map { "{\"id\":\"c\($0)\",\"text\":\"t\($0)\",\"nextSegmentId\":\"no\"}" }
      .joined(separator: ",").utf8
    text += "]}".utf8
    for index in 0..<2_000 {
      text +=
        ",{\"id\":\"u\(index)\",\"text\":\"x\",\"isAuthenticPath\":true,\"isEnding\":true,\"choices\":[]}"
        .utf8
    }
    text += "]}".utf8
    let findings = try StoryReport.check(text, source: .json).findings
    #expect(findings.count { $0.code == .brokenChoice } == 2_000)
    #expect(findings.count { $0.code == .unreachable } == 2_000)
    #expect(findings.allSatisfy { $0.message.utf8.count < 1_000 && !$0.message.contains("\u{FFFD}") })
  }
}
