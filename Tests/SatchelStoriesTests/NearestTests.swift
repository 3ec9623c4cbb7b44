import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelStories

@Suite("The nearest id is suggested") struct NearestTests {
  /// Returns the suggestion for a target in a story with these ids.
  private func suggestion(_ target: String, among ids: [String]) throws -> String? {
    let segments = [RulesStory.segment("1", to: target)] + ids.map { RulesStory.ending($0) }
    var story = RulesStory()
    story.segments = RulesStory.segments(segments)
    let broken = try StoryReport.check(story.json, source: .json).findings.filter { $0.code == .brokenChoice }
    #expect(broken.count == 1)
    return broken.first?.suggestion
  }

  static let examples: [(String, [String], String?)] = [
    ("forset-2", ["forest-2"], "forest-2"), ("forest2", ["forest-2"], "forest-2"),
    ("forest--2", ["forest-2"], "forest-2"),
    ("forest_2", ["forest-2"], "forest-2"), ("orest-2", ["forest-2"], "forest-2"),
    ("forest-", ["forest-2"], "forest-2"),
    ("xforest-2", ["forest-2"], "forest-2"), ("ofrest-2", ["forest-2"], "forest-2"),
    // Two edits of a longer id; three are too many.
    ("foerst_2", ["forest-2"], "forest-2"), ("forest", ["forest-2"], "forest-2"),
    ("frosetx2", ["forest-2"], nil),
    ("fores", ["forest-2"], nil), ("forestabc", ["forest"], nil),
    // Short ids are near to every id: one edit only.
    ("ab", ["xy"], nil), ("ab", ["ax"], "ax"), ("ab", ["ba"], "ba"), ("ab", ["a"], "a"),
    ("abcde", ["abxye"], nil),
    ("a", ["b"], nil), ("", ["a"], nil), ("abcdef", ["abxyef"], "abxyef"),
    // The nearest; of equally near ones, the first in the file.
    ("castle-1", ["castel-1x", "castle-2", "castle-3"], "castle-2"), ("cat", ["car", "cut", "bat"], "car"),
    ("abcdef", ["abxyef", "abcdxx", "abcdex"], "abcdex"), ("Forest-2", ["forest-3", "forest-2"], "forest-2"),
    ("größe", ["grösse"], "grösse"), ("groß", ["gross"], nil), ("森林", ["森材"], "森材"), ("森の道", ["森の"], nil),
    (
      String(repeating: "x", count: 256), [String(repeating: "x", count: 257)],
      String(repeating: "x", count: 257)
    ),
    (String(repeating: "x", count: 257), [String(repeating: "x", count: 256)], nil),
  ]

  @Test("Misspelt ids", arguments: examples)
  func slip(_ target: String, _ ids: [String], _ expected: String?) throws {
    #expect(try suggestion(target, among: ids) == expected)
  }

  private func analysis(_ ids: [String]) throws -> Story {
    var story = RulesStory()
    story.segments = RulesStory.segments(ids.map { RulesStory.ending($0) })
    return try Story(story.json, source: .json)
  }

  /// Returns the distance by its definition, without a bound.
  private func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var rows = Array(repeating: Array(repeating: 0, count: other.count + 1), count: one.count + 1)
    for row in 0...one.count {
      for column in 0...other.count {
        guard row > 0, column > 0 else {
          rows[row][column] = row + column
          continue
        }
        let same = one[row - 1] == other[column - 1] ? 0 : 1
        var cost = min(rows[row - 1][column] + 1, rows[row][column - 1] + 1, rows[row - 1][column - 1] + same)
        if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
          cost = min(cost, rows[row - 2][column - 2] + 1)
        }
        rows[row][column] = cost
      }
    }
    return rows[one.count][other.count]
  }

  @Test("Distances equal their definition") func distances() {
    var random = SeededRandom(seed: 1)
    var measure = EditDistance()
    for _ in 0..<5_000 {
      let one = (0..<random.below(9)).map { _ in UInt8(97 + random.below(3)) }
      let other = (0..<random.below(9)).map { _ in UInt8(97 + random.below(3)) }
      let exact = distance(one, other)
      for bound in 1...4 {
        let found = other.withUnsafeBytes { measure.between(one, $0, below: bound) }
        #expect(found == (exact < bound ? exact : nil))
      }
    }
  }

  @Test("Looking up and comparing give the same result") func bothWays() throws {
    var random = SeededRandom(seed: 2)
    var found = 0
    for _ in 0..<400 {
      // With a small alphabet many ids are near to each other, and many targets near to one id.
      func word() -> [UInt8] {
        (0..<1 + random.below(8)).map { _ in UInt8(97 + random.below(2 + random.below(3))) }
      }
      let ids = (0..<1 + random.below(30)).map { _ in String(decoding: word(), as: UTF8.self) }
      let story = try analysis(ids)
      let known = Set(ids.map { Array($0.utf8) })
      let missing = Array(Set((0..<30).map { _ in word() }).subtracting(known)).filter { $0.count > 1 }
      let lookedUp = NearestID.lookUp(missing, in: story.analysis)
      let compared = NearestID.compare(missing, in: story.analysis)
      for text in missing {
        let near = ids.firstIndex { distance(text, Array($0.utf8)) == 1 }
        #expect(lookedUp[text] == near, "\(String(decoding: text, as: UTF8.self)) among \(ids)")
        if let near { #expect(compared[text] == near) }
        found += near == nil ? 0 : 1
      }
    }
    #expect(found > 1_000)
  }

  @Test("A hundred thousand misspelt targets among a hundred thousand segments") func many() throws {
    var text = Array("{\"segments\":[".utf8)
    let count = Portion.count(100_000, parts: 10)
    for index in 0..<count {
      let id = String(index * 7_919 % 900_001 + 100_000)
      // Letters and digits do not mix, so that no other id is as near.
      let misspelt = [
        id + "x", "x" + id, id.prefix(3) + "x" + id.suffix(3), id.prefix(3) + "xx" + id.suffix(2),
      ][index % 4]
      if index > 0 { text.append(UInt8(ascii: ",")) }
      text += "{\"id\":\"segment-\(id)\",\"text\":\"x\",\"isAuthenticPath\":true,\"choices\":[".utf8
      text += "{\"id\":\"\(index)\",\"text\":\"t\",\"nextSegmentId\":\"segment-\(misspelt)\"}]}".utf8
    }
    text += "]}".utf8
    let broken = try StoryReport.check(text, source: .json).findings.filter { $0.code == .brokenChoice }
    #expect(broken.count == count)
    for (index, finding) in broken.enumerated() where index % 4 < 3 {
      guard finding.suggestion != "segment-\(index * 7_919 % 900_001 + 100_000)" else { continue }
      Issue.record("\(finding.message): \(finding.suggestion ?? "nothing")")
      break
    }
  }
}
