import Foundation
import SatchelJSON
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

import SatchelStories

@Suite("Any bytes give findings with valid locations, or an error") struct LocationTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  /// The stories of the test vectors and the examples.
  static let seeds: [[UInt8]] = {
    var seeds = VectorTests.cases.map(\.story)
    let folder = tests.deletingLastPathComponent().appending(path: "Examples/Stories")
    let files =
      (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    for file in files.sorted(by: { $0.path < $1.path }) where file.pathExtension == "json" {
      seeds += (try? Data(contentsOf: file)).map { [[UInt8]($0)] } ?? []
    }
    var random = SeededRandom(seed: 5)
    for layout in PlantedWriter.Layout.allCases {
      var story = PlantedStory(size: 5, faults: 1, seed: random.next())
      var writer = PlantedWriter(layout, seed: random.next())
      writer.write(story.node())
      seeds.append(writer.bytes)
    }
    return seeds
  }()

  private static let pieces: [[UInt8]] = [
    "null", "true", "false", "0", "-1", "1e400", "[]", "{}", "\"\"", "\"a\"", "\"id\":", "\"choices\":[",
    "\"segments\":[",
    "\"nextSegmentId\":\"b\",", ",", ":", "[", "]", "{", "}", "\"", "\\", "\\u0061", "\\ud83d\\udc09", "\n",
    " ", "é", "中",
    "::", "\"isEnding\":true,", "\"text\":\"\",", "[[[[", "{\"id\":1}",
  ].map { Array($0.utf8) }

  private func mutate(_ text: inout [UInt8], _ random: inout SeededRandom) {
    let at = random.below(text.count + 1)
    let end = min(text.count, at + random.below(12))
    switch random.below(6) {
    case 0: text.insert(contentsOf: random.pick(Self.pieces), at: at)
    case 1: text.replaceSubrange(at..<end, with: random.pick(Self.pieces))
    case 2: text.removeSubrange(at..<end)
    case 3: if at < text.count { text[at] = UInt8(truncatingIfNeeded: random.next()) }
    case 4: replaceValue(&text, &random)
    default:
      let from = random.below(text.count + 1)
      text.insert(contentsOf: text[from..<min(text.count, from + random.below(60))], at: at)
    }
  }

  /// Replaces a value by another one, so that the text stays JSON.
  private func replaceValue(_ text: inout [UInt8], _ random: inout SeededRandom) {
    let range = text.withUnsafeBytes { raw -> (Range<Int>, Range<Int>)? in
      guard let tape = try? JSONTape(raw) else { return nil }
      let values = tape.tokens.indices.filter { !tape[$0].isKey }
      return (tape.rawRange(random.pick(values)), tape.rawRange(random.pick(values)))
    }
    guard let (one, other) = range else { return }
    let isPiece = random.once(in: 2)
    let values = ["null", "true", "7", "\"\"", "\"b\"", "[]", "{}", "\"a/~\"", "[null]", "1.5"].map {
      Array($0.utf8)
    }
    text.replaceSubrange(one, with: isPiece ? random.pick(values) : Array(text[other]))
  }

  /// Returns the value of a pointer in a text; nil when it does not exist.
  private func resolve(_ pointer: String, in tape: JSONTape) -> Int? {
    var index = tape.root
    for component in pointer.split(separator: "/").map(String.init) {
      switch tape[index].kind {
      case .object:
        guard let child = tape.children(of: index).first(where: { tape.text($0 - 1) == component }) else {
          return nil
        }
        index = child
      case .array:
        guard let number = Int(component),
          let child = tape.children(of: index).dropFirst(number).first(where: { _ in true })
        else { return nil }
        index = child
      default: return nil
      }
    }
    return index
  }

  private func check(_ text: [UInt8]) throws -> Bool {
    try text.withUnsafeBytes { raw in
      let tape = try? JSONTape(raw)
      let isStory = tape.map { $0[$0.root].kind == .object } ?? false
      do {
        let report = try StoryReport.check(raw, source: .json)
        guard let tape, isStory else {
          Issue.record("accepted, although it is not an object: \(String(decoding: raw, as: UTF8.self))")
          return false
        }
        for finding in report.findings {
          guard let index = resolve(finding.pointer, in: tape) else {
            Issue.record("\(finding.json) has no value: \(String(decoding: raw, as: UTF8.self))")
            return false
          }
          let place = tape.position(index)
          if place != finding.position || (try? JSONPath(pointer: finding.pointer)) == nil {
            Issue.record("\(finding.json) is not at \(place): \(String(decoding: raw, as: UTF8.self))")
            return false
          }
        }
        let counts = (report.statistics.segments, report.statistics.endings, report.statistics.words)
        return counts.0 >= counts.1 && counts.2 >= 0
      } catch let error as SatchelError {
        #expect(error.code == .invalid)
        // The error is the same as that of the JSON parser.
        if isStory { Issue.record("refused: \(error.message): \(String(decoding: raw, as: UTF8.self))") }
        let cause = try #require(error.underlying as? JSONError)
        let place = try #require(cause.position)
        if tape == nil { #expect(throws: cause) { _ = try JSONTape(raw) } }
        #expect(error.message.contains("line \(place.line), column \(place.column)"))
        return false
      }
    }
  }

  @Test("All seeds exist, and are checked") func seeds() throws {
    #expect(Self.seeds.count == 19)
    for seed in Self.seeds { #expect(try check(seed)) }
  }

  @Test("Fifty thousand mutations", arguments: Portion.of(0..<5)) func mutations(_ part: Int) throws {
    var random = SeededRandom(seed: UInt64(part))
    // Small stories more often: they are fast, and their failures are easy to read.
    let small = Self.seeds.filter { $0.count < 1_500 }
    var accepted = 0
    for number in 0..<10_000 {
      var text = number % 10 == 0 ? random.pick(Self.seeds) : random.pick(small)
      for _ in 0...random.below(3) { mutate(&text, &random) }
      if try check(text) { accepted += 1 }
    }
    #expect(accepted > 1_000)
  }

  @Test("A story truncated at any byte is rejected") func cuts() throws {
    let text = RulesStory().json
    for end in text.indices { #expect(try !check(Array(text[..<end])), "\(end)") }
  }
}
