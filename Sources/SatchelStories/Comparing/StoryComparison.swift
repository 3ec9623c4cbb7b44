import SatchelCore
import SatchelJSON

/// Computes a `StoryDiff`. Segments are matched by id, choices by segment and id.
struct StoryComparison {
  private let old: StoryAnalysis
  private let new: StoryAnalysis
  private let isOutline: Bool
  private(set) var diff = StoryDiff()

  /// - Parameter isOutline: whether the old version is a `StoryOutline`, so that texts are compared by digests
  init(old: StoryAnalysis, new: StoryAnalysis, isOutline: Bool = false) {
    self.old = old
    self.new = new
    self.isOutline = isOutline
    compareHeaders()
    compareStarts()
    var removed: [Int] = []
    for index in Self.named(old) {
      guard let match = counterpart(of: index, from: old, in: new) else {
        diff.removedSegments.append(old.id(index))
        if old.reach.contains(index) { removed.append(index) }
        continue
      }
      comparePosition(index, match)
      compareContents(index, match)
    }
    let added = Self.named(new).filter { counterpart(of: $0, from: new, in: old) == nil }
    diff.addedSegments = added.map { new.id($0) }
    reportRemoved(removed, added: added)
  }

  /// Returns the segments with a unique id, or the first of those that share one.
  private static func named(_ analysis: StoryAnalysis) -> [Int] {
    analysis.table.segments.indices.filter {
      let flags = analysis.table.segments[$0].flags
      return flags.contains(.hasID) && !flags.contains(.isDuplicate)
    }
  }

  private func counterpart(of index: Int, from one: StoryAnalysis, in other: StoryAnalysis) -> Int? {
    other.graph.ids.find(one.table.text.bytes(one.table.segments[index].id))
  }

  private mutating func compareHeaders() {
    guard let one = StoryHeader(old.table).json.objectValue,
      let other = StoryHeader(new.table).json.objectValue
    else { return }
    diff.changedFields = one.keys.filter { one[$0] != other[$0] }
  }

  private mutating func compareStarts() {
    func start(_ analysis: StoryAnalysis) -> String? {
      analysis.table.segments.isEmpty ? nil : analysis.id(0)
    }
    if start(old) != start(new) { diff.start = (start(old), start(new)) }
  }

  /// Adds a broken position for a reachable segment that is surely unreachable or a trap in the new version.
  private mutating func comparePosition(_ index: Int, _ match: Int) {
    guard old.reach.contains(index) else { return }
    if !new.canEnd(match), old.canEnd(index) {
      diff.broken.append(StoryDiff.BrokenPosition(segment: old.id(index), reason: .trap, suggestion: nil))
    } else if !new.canReach(match) {
      diff.broken.append(
        StoryDiff.BrokenPosition(segment: old.id(index), reason: .unreachable, suggestion: nil))
    }
  }

  private mutating func compareContents(_ index: Int, _ match: Int) {
    let segment = old.id(index)
    var hasChangedText = text(old, index) != newText(match)
    let (oldChoices, newChoices) = (Choices(old, index), Choices(new, match))
    for name in oldChoices.names {
      guard let before = oldChoices[name] else { continue }
      guard let after = newChoices[name] else {
        diff.removedChoices.append(.init(segment: segment, choice: before.id))
        continue
      }
      if !before.target.hasSameBytes(as: after.target) {
        diff.moved.append(.init(segment: segment, choice: before.id, from: before.target, to: after.target))
      }
      if !before.text.hasSameBytes(as: after.text) { hasChangedText = true }
    }
    for name in newChoices.names where oldChoices[name] == nil {
      diff.addedChoices.append(.init(segment: segment, choice: String(decoding: name, as: UTF8.self)))
    }
    if hasChangedText { diff.changedTexts.append(segment) }
  }

  /// The choices of a segment by the bytes of their ids; of equal ids, the first one.
  private struct Choices {
    private(set) var names: [[UInt8]] = []
    private var choices: [[UInt8]: (id: String, text: String, target: String)] = [:]

    init(_ analysis: StoryAnalysis, _ segment: Int) {
      let text = analysis.table.text
      for choice in analysis.table.choices[analysis.table.choiceRange(segment)] {
        let name = Array(text.bytes(choice.id))
        guard choices[name] == nil else { continue }
        choices[name] = (text.string(choice.id), text.string(choice.text), text.string(choice.target))
        names.append(name)
      }
    }

    subscript(name: [UInt8]) -> (id: String, text: String, target: String)? { choices[name] }
  }

  /// Adds a broken position for each reachable segment that was removed, with the new segment that most
  /// likely replaces it: one with the same text, else one with a similar id.
  private mutating func reportRemoved(_ removed: [Int], added: [Int]) {
    var byText: [[UInt8]: Int] = [:]
    for index in added.reversed() { byText[newText(index)] = index }
    let ids = Set(removed.map { Array(old.table.text.bytes(old.table.segments[$0].id)) })
    let byID = NearestID.segments(for: ids.ordered { $0.lexicographicallyPrecedes($1) }, in: new)
    let isAdded = Set(added)
    for index in removed {
      let near = byID[Array(old.table.text.bytes(old.table.segments[index].id))].flatMap {
        isAdded.contains($0) ? $0 : nil
      }
      let successor = byText[text(old, index)] ?? near
      diff.broken.append(
        StoryDiff.BrokenPosition(
          segment: old.id(index), reason: .removed, suggestion: successor.map { new.id($0) }))
    }
  }

  private func text(_ analysis: StoryAnalysis, _ segment: Int) -> [UInt8] {
    Array(analysis.table.segmentText(segment).utf8)
  }

  /// Returns a text of the new version, in the form that the old version has.
  private func newText(_ segment: Int) -> [UInt8] {
    isOutline ? Array(StoryOutline.digest(of: new, segment).utf8) : text(new, segment)
  }
}
