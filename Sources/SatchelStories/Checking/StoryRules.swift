import SatchelCore
/// Checks all rules of a story, without disk or clock, in time linear in segments plus choices.
///
/// A fault that only follows from another one is no finding, but counted in the other one.
struct StoryRules {
  let analysis: StoryAnalysis
  /// The faults in the order of the file.
  var faults: ContiguousArray<StoryFault>
  /// For targets that do not exist, the segment that was probably meant.
  private(set) var nearest: [[UInt8]: Int] = [:]
  /// The indices in `faults` of choices whose targets do not exist.
  var broken: [Int] = []

  var table: StoryTable { analysis.table }

  init(_ analysis: StoryAnalysis) {
    (self.analysis, faults) = (analysis, analysis.table.faults)
    checkHeader()
    if analysis.table.segments.isEmpty {
      checkSegmentCount()
    } else {
      checkIDs()
      checkChoices()
      let missing = missingTargets()
      if !missing.isEmpty {
        nearest = LookAlike.segments(for: missing, in: analysis)
        let rest = missing.filter { nearest[$0] == nil }
        nearest.merge(NearestID.segments(for: rest, in: analysis)) { one, _ in one }
      }
      checkReach()
      checkEndings()
      checkAuthenticPath()
    }
    faults = ContiguousArray(faults.ordered { $0.offset < $1.offset })
  }

  mutating func note(
    _ code: StoryFinding.Code, at offset: Int, segment: Int = -1, choice: Int = -1, field: StoryField? = nil,
    detail: Int = -1, isDowngraded: Bool = false
  ) {
    faults.append(
      StoryFault(
        code: code, offset: UInt32(truncatingIfNeeded: offset), segment: Int32(truncatingIfNeeded: segment),
        choice: Int32(truncatingIfNeeded: choice), field: field, detail: Int32(truncatingIfNeeded: detail),
        isDowngraded: isDowngraded))
  }

  mutating func note(
    _ code: StoryFinding.Code, segment: Int, detail: Int = -1, isDowngraded: Bool = false
  ) {
    note(
      code, at: Int(table.segments[segment].start), segment: segment, detail: detail,
      isDowngraded: isDowngraded)
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
    if choice.flags.contains(.isDynamic) { return }
    if analysis.graph.targets[index] < 0 {
      broken.append(faults.count)
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
}
