import SatchelCore
/// Checks all rules of a story, without disk or clock, in time linear in segments plus choices.
struct StoryRules {
  private let analysis: StoryAnalysis
  private var faults: ContiguousArray<StoryFault>

  private var table: StoryTable { analysis.table }

  /// Returns the faults of a story, in the order of its file.
  static func faults(of analysis: StoryAnalysis) -> ContiguousArray<StoryFault> {
    var rules = StoryRules(analysis: analysis, faults: analysis.table.faults)
    rules.checkHeader()
    if analysis.table.segments.isEmpty {
      rules.checkSegmentCount()
    } else {
      rules.checkIDs()
      rules.checkChoices()
      rules.checkReach()
      rules.checkEndings()
      rules.checkAuthenticPath()
    }
    return ContiguousArray(rules.faults.ordered { $0.offset < $1.offset })
  }

  private mutating func note(
    _ code: StoryFinding.Code, at offset: Int, segment: Int = -1, choice: Int = -1, field: StoryField? = nil,
    detail: Int = -1, isDowngraded: Bool = false
  ) {
    faults.append(
      StoryFault(
        code: code, offset: UInt32(truncatingIfNeeded: offset), segment: Int32(truncatingIfNeeded: segment),
        choice: Int32(truncatingIfNeeded: choice), field: field, detail: Int32(truncatingIfNeeded: detail),
        isDowngraded: isDowngraded))
  }

  private mutating func note(_ code: StoryFinding.Code, segment: Int, isDowngraded: Bool = false) {
    note(code, at: Int(table.segments[segment].start), segment: segment, isDowngraded: isDowngraded)
  }

  // MARK: - The header

  private mutating func checkHeader() {
    guard !table.isImported else { return }
    if let value = table.header[.ageRange], let range = table.string(.ageRange), AgeRange(range) == nil {
      note(.malformedAgeRange, at: Int(value.slice.start) - 1, field: .ageRange)
    }
    if let value = table.header[.estimatedReadingMinutes],
      let minutes = table.integer(.estimatedReadingMinutes),
      let span = analysis.readingTime, !span.isNear(minutes)
    {
      note(.readingTime, at: Int(value.slice.start), field: .estimatedReadingMinutes)
    }
  }

  private mutating func checkSegmentCount() {
    let isOtherType = faults.contains { $0.code == .wrongType && $0.field == .segments }
    if !isOtherType { note(.noSegments, at: table.segmentsStart ?? table.start, field: .segments) }
  }

  // MARK: - Ids

  private mutating func checkIDs() {
    let text = table.text
    for (segment, earlier) in analysis.graph.duplicates {
      note(
        .duplicateSegment, at: text.origin(of: table.segments[segment].id) - quote, segment: segment,
        field: .id,
        detail: earlier)
    }
    let choices = table.choices
    let repeated = DuplicateIDs.find(count: choices.count) {
      choices[$0].flags.contains(.hasID) ? choices[$0].idHash : nil
    } bytes: {
      text.bytes(choices[$0].id)
    }
    for (choice, earlier) in repeated {
      let segment = table.segment(ofChoice: choice)
      note(
        .duplicateChoice, at: text.origin(of: choices[choice].id) - quote, segment: segment, choice: choice,
        field: .id, detail: earlier, isDowngraded: earlier < Int(table.segments[segment].firstChoice))
    }
  }

  // The slice of a JSON string starts after its quote.
  private var quote: Int { table.isImported ? 0 : 1 }

  // MARK: - Choices

  @_optimize(speed)
  private mutating func checkChoices() {
    let (segments, choices, targets) = (table.segments, table.choices, analysis.graph.targets)
    for segment in segments.indices {
      let range = table.choiceRange(segment)
      for index in range where choices[index].flags.rawValue & StoryTable.ChoiceFlags.hasTarget.rawValue != 0
      {
        let target = Int(targets[index])
        // A target is the first segment with the id: for a duplicate, the ids have to be compared.
        if target >= 0, target != segment, !segments[segment].flags.contains(.isDuplicate) { continue }
        checkTarget(of: index, in: segment)
      }
      if range.count > 1 { checkTexts(of: segment, range) }
    }
  }

  private mutating func checkTarget(of index: Int, in segment: Int) {
    let choice = table.choices[index]
    if choice.flags.contains(.isIncluded) { return }
    let offset = table.text.origin(of: choice.target) - quote
    if analysis.graph.targets[index] < 0 {
      note(.brokenChoice, at: offset, segment: segment, choice: index, field: .nextSegmentId)
    } else if table.segments[segment].flags.contains(.hasID),
      table.text.haveSameBytes(choice.target, table.segments[segment].id)
    {
      note(.selfChoice, at: offset, segment: segment, choice: index, field: .nextSegmentId)
    }
  }

  private mutating func checkTexts(of segment: Int, _ range: Range<Int>) {
    let text = table.text
    func note(_ index: Int, _ earlier: Int) {
      let (choice, other) = (analysis.table.choices[index], analysis.table.choices[earlier])
      // In an imported story, a link that may lead to several segments is one choice for each.
      if analysis.table.isImported,
        choice.flags.contains(.isIncluded) || text.origin(of: choice.text) == text.origin(of: other.text)
      {
        return
      }
      self.note(
        .duplicateChoiceText, at: text.origin(of: analysis.table.choices[index].text) - quote,
        segment: segment,
        choice: index, field: .text, detail: earlier)
    }
    // A few choices are compared with each other; many are looked up in a table, so that the cost stays
    // linear.
    if range.count <= 8 {
      let repeated = table.choices.withUnsafeBufferPointer { choices in
        range.dropFirst().compactMap { index -> (Int, Int)? in
          guard choices[index].flags.contains(.hasText), choices[index].text.count > 0 else { return nil }
          let earlier = (range.lowerBound..<index).first {
            choices[$0].flags.contains(.hasText) && text.haveSameBytes(choices[$0].text, choices[index].text)
          }
          return earlier.map { (index, $0) }
        }
      }
      for (index, earlier) in repeated { note(index, earlier) }
      return
    }
    var seen = StoryIDTable(capacity: range.count)
    for index in range
    where table.choices[index].flags.contains(.hasText) && table.choices[index].text.count > 0 {
      let earlier = seen.insert(index, text.bytes(table.choices[index].text))
      if let earlier { note(index, earlier) }
    }
  }

  // MARK: - Paths

  private mutating func checkReach() {
    let isUncertain = analysis.hasUncertainPaths
    let mayBeReached =
      table.mentions.isEmpty || isUncertain ? nil : analysis.graph.mayReach(table, analysis.reach)
    for segment in table.segments.indices where !analysis.reach.contains(segment) {
      let flags = table.segments[segment].flags
      if flags.contains(.hasID), !flags.contains(.isDuplicate) {
        note(.unreachable, segment: segment, isDowngraded: isUncertain || mayBeReached?[segment] == true)
      }
    }
  }

  private mutating func checkEndings() {
    // Where no ending can be reached at all, every reachable segment is a trap: one finding says it.
    let hasEnding = analysis.reachesEnding[0]
    for segment in table.segments.indices {
      let record = table.segments[segment]
      if hasEnding, analysis.reach.contains(segment), !analysis.reachesEnding[segment],
        !record.flags.contains(.isPart)
      {
        note(.trap, segment: segment)
      }
      if record.flags.contains(.isMarkedEnding) {
        if record.choiceCount > 0 { note(.endingWithChoices, segment: segment) }
      } else if record.choiceCount == 0, record.flags.contains(.hasChoices), !table.isImported {
        note(.unmarkedEnding, segment: segment)
      }
    }
    if !hasEnding {
      note(.noEnding, at: table.segmentsStart ?? table.start, field: .segments)
    }
  }

  private mutating func checkAuthenticPath() {
    let hasAuthentic = table.segments.contains { $0.flags.contains(.isAuthentic) }
    guard hasAuthentic else {
      if !table.isImported {
        note(.noAuthenticPath, at: table.segmentsStart ?? table.start, field: .segments)
      }
      return
    }
    let (path, isComplete) = analysis.authenticPath()
    if !isComplete { note(.authenticPathBroken, segment: path.last ?? 0) }
  }
}
