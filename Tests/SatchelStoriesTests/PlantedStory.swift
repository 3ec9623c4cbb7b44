import SatchelStories
import SatchelTesting

/// A sound story of any size, with planted faults.
struct PlantedStory {
  /// A fault of the story as a whole; at most one.
  enum Whole: CaseIterable, Sendable { case nothing, header, start, authentic, endings, brokenOff }

  private struct Segment {
    var id: String
    var isAuthentic = false
    var isEnding = false
    var faults: [PlantedNode.Fault] = []
    var choices: [PlantedNode] = []
    /// The values that replace the regular ones, by key; nil omits the key.
    var replaced: [String: PlantedNode?] = [:]
    /// The element that is written instead of the segment; nil for a segment.
    var element: PlantedNode?
  }

  private var random: SeededRandom
  private let whole: Whole
  private var segments: [Segment] = []
  private var header: [String: PlantedNode?] = [:]
  private var headerFaults: [PlantedNode.Fault] = []
  private var segmentsFaults: [PlantedNode.Fault] = []
  private var choiceNumber = 0
  /// The number of segments in the sound part, in the order of the path.
  private var chain = 0

  /// - Parameters:
  ///   - size: the number of segments of the sound part
  ///   - faults: the number of planted faults of each kind
  init(size: Int, faults: Int, whole: Whole = .nothing, seed: UInt64) {
    random = SeededRandom(seed: seed)
    self.whole = whole
    grow(size)
    for _ in 0..<faults { plant() }
    plantWhole()
  }

  /// The story as a tree to write, with its segments shuffled after the first one.
  mutating func node() -> PlantedNode {
    var order = Array(segments.indices.dropFirst())
    // Duplicates have to stay in their order: the first of two equal ids counts.
    order.shuffle(using: &random)
    let ordered = [segments[0]] + keepingTwins(order).map { segments[$0] }
    var members: [(key: String, value: PlantedNode)] = [
      ("id", .text("planted")), ("title", .text("Planted")), ("author", .text("A. N. Author")),
      ("synopsis", .text("What „nobody“ noticed.")), ("coverImageName", .text("")),
      ("estimatedReadingMinutes", .raw("1")), ("ageRange", .text("5-8")),
      ("tags", .array([.text("one"), .text("")])), ("isPurchased", .raw("false")),
    ]
    if random.once(in: 2) { members += [("originalSource", .raw("null")), ("culturalOrigin", .text(""))] }
    members = members.compactMap { member in
      guard let replacement = header[member.key] else { return member }
      return replacement.map { (member.key, $0) }
    }
    var list = PlantedNode.array(ordered.map(node))
    list.faults = segmentsFaults
    members.append(("segments", list))
    var story = PlantedNode.object(members)
    story.faults = headerFaults
    return story
  }

  private func keepingTwins(_ order: [Int]) -> [Int] {
    var order = order
    var place = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
    for (twin, original) in twins {
      guard let one = place[twin], let other = place[original], one < other else { continue }
      order.swapAt(one, other)
      (place[twin], place[original]) = (other, one)
    }
    return order
  }

  private var twins: [(twin: Int, original: Int)] = []

  private func node(_ segment: Segment) -> PlantedNode {
    if let element = segment.element { return element }
    var members: [(key: String, value: PlantedNode)] = [
      ("id", .text(segment.id)), ("text", .text("You are at “\(segment.id)”.\nGo on, 勇者, 走！")),
      ("isAuthenticPath", .raw(segment.isAuthentic ? "true" : "false")), ("choices", .array(segment.choices)),
    ]
    if segment.isEnding { members.append(("isEnding", .raw("true"))) }
    for (key, value) in segment.replaced.sorted(by: { $0.key < $1.key }) {
      members.removeAll { $0.key == key }
      if let value { members.append((key, value)) }
    }
    var node = PlantedNode.object(members)
    node.faults = segment.faults
    return node
  }

  // MARK: - Sound segments

  private mutating func grow(_ size: Int) {
    chain = max(4, size)
    for index in 0..<chain { segments.append(Segment(id: name(index))) }
    segments[chain - 1].isEnding = true
    for index in 0..<chain - 1 {
      lead(index, to: index + 1)
      if random.once(in: 4) { lead(index, to: index + random.below(chain - index - 1) + 1) }
      // A choice that leads back, for a cycle.
      if index > 0, random.once(in: 6) { lead(index, to: random.below(index)) }
    }
    var current = 0
    segments[0].isAuthentic = true
    while current < chain - 1 {
      let isJump = current < chain - 2 && random.once(in: 3)
      if isJump { lead(current, to: current + 2) }
      current += isJump ? 2 : 1
      segments[current].isAuthentic = true
    }
    // An ending near the start keeps the shortest path short.
    lead(0, to: addLeaf())
  }

  private func name(_ index: Int) -> String {
    switch index % 5 {
    case 0: "s\(index)"
    case 1: "ort-\(index)-größe"
    case 2: "森/\(index)"
    case 3: "a \"quoted\" \(index)"
    default: "\(index)🐉"
    }
  }

  private mutating func choice(_ target: String, id: String? = nil, text: String? = nil) -> [String:
    PlantedNode]
  {
    choiceNumber += 1
    return [
      "id": .text(id ?? "c\(choiceNumber)"), "text": .text(text ?? "Go \(choiceNumber)"),
      "nextSegmentId": .text(target),
    ]
  }

  private func node(_ choice: [String: PlantedNode]) -> PlantedNode {
    .object(choice.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }

  private mutating func lead(_ source: Int, to target: Int) {
    segments[source].choices.append(node(choice(segments[target].id)))
  }

  private mutating func addLeaf() -> Int {
    segments.append(Segment(id: name(segments.count), isEnding: true))
    return segments.count - 1
  }

  // MARK: - Faults

  private mutating func host() -> Int { random.below(chain - 1) }

  private mutating func plant() {
    plantInSegments()
    plantInChoices()
    plantWrongTypes()
  }

  private mutating func plantInSegments() {
    // Unreachable, and with a choice.
    segments.append(
      Segment(id: name(segments.count), faults: [PlantedNode.Fault(code: .unreachable)]))
    lead(segments.count - 1, to: host())
    // Two segments that only lead to each other.
    let trap = segments.count
    for _ in 0..<2 {
      segments.append(Segment(id: name(segments.count), faults: [PlantedNode.Fault(code: .trap)]))
    }
    lead(trap, to: trap + 1)
    lead(trap + 1, to: trap)
    lead(host(), to: trap)
    // A second segment with the same id.
    let original = host()
    twins.append((addLeaf(), original))
    segments[segments.count - 1].replaced["id"] = .text(segments[original].id).with(.duplicateSegment)
    // An unmarked ending, a marked one with choices, one without words, and an empty object.
    let unmarked = addLeaf()
    segments[unmarked].faults = [PlantedNode.Fault(code: .unmarkedEnding)]
    segments[unmarked].isEnding = false
    if random.once(in: 2) { segments[unmarked].replaced["isEnding"] = .raw(random.pick(["false", "null"])) }
    lead(host(), to: unmarked)
    let marked = addLeaf()
    segments[marked].faults = [PlantedNode.Fault(code: .endingWithChoices)]
    // One that leads only back to the start is an ending.
    lead(marked, to: 1 + random.below(chain - 2))
    lead(host(), to: marked)
    let wordless = addLeaf()
    segments[wordless].replaced["text"] = .text(random.pick(["", " \t\n", "\u{3000}\u{A0}"])).with(.emptyText)
    lead(host(), to: wordless)
    let bare = addLeaf()
    let keys = ["id", "text", "isAuthenticPath", "choices"].filter { _ in random.once(in: 2) }
    for key in keys {
      segments[bare].replaced[key] = .some(nil)
      segments[bare].faults.append(PlantedNode.Fault(code: .missingField))
    }
    if !keys.contains("id") { lead(host(), to: bare) }
  }

  private mutating func plantInChoices() {
    func add(_ choice: [String: PlantedNode], to host: Int, _ codes: StoryFinding.Code...) {
      segments[host].choices.append(codes.reduce(node(choice)) { $0.with($1) })
    }
    // The leaf near the start gets no choice.
    let somewhere = segments[chain].id
    var broken = choice("")
    broken["nextSegmentId"] = .text("nowhere at all \(choiceNumber)").with(.brokenChoice)
    // Where the start has one, the authentic path may go on there.
    add(broken, to: 1 + random.below(chain - 2))
    let own = host()
    var back = choice("")
    back["nextSegmentId"] = .text(segments[own].id).with(.selfChoice)
    add(back, to: own)
    // Twice the same id, and twice the same text, in one segment.
    let twice = host()
    let text = "Twice \(choiceNumber)"
    let twin = "twin-\(choiceNumber)"
    add(choice(somewhere, id: twin, text: text), to: twice)
    var second = choice(somewhere)
    second["text"] = .text(text).with(.duplicateChoiceText)
    second["id"] = .text(twin).with(.duplicateChoice)
    add(second, to: twice)
    var unnamed = choice(somewhere)
    unnamed["id"] = .text("").with(.invalidID)
    if !hasUnnamed { add(unnamed, to: host()) }
    hasUnnamed = true
    var wordless = choice(somewhere)
    wordless["text"] = .text(" ").with(.emptyText)
    if !hasWordless { add(wordless, to: host()) }
    hasWordless = true
    var bare = choice(somewhere)
    bare["text"] = nil
    add(bare, to: host(), .missingField)
    add([:], to: host(), .missingField, .missingField, .missingField)
    // A repeated choice id in another segment is only a warning.
    let first = "first-\(choiceNumber)"
    add(choice(segments[1].id, id: first), to: 0)
    var later = choice(somewhere)
    later["id"] = .text(first).with(.duplicateChoice, isMilder: true)
    add(later, to: 1 + random.below(chain - 2))
  }

  private var hasUnnamed = false
  private var hasWordless = false

  private mutating func plantWrongTypes() {
    let wrong = ["17", "null", "{\"id\": [\"x\"]}", "[[]]", "true", "-0.5"]
    func with(_ spelling: String) -> PlantedNode { PlantedNode.raw(spelling).with(.wrongType) }
    var element = Segment(id: "")
    element.element = with(random.pick(["17", "null", "[{}]", "\"text\"", "true"]))
    segments.append(element)
    let leaf = addLeaf()
    segments[leaf].replaced["text"] = with(random.pick(wrong))
    segments[leaf].replaced["isAuthenticPath"] = with(random.pick(["\"true\"", "null", "1", "{}", "[]"]))
    segments[leaf].replaced["choices"] = with(random.pick(["{}", "null", "\"\"", "0"]))
    lead(host(), to: leaf)
    segments[addLeaf()].replaced["id"] = with(random.pick(wrong))
    let flagged = host()
    segments[flagged].replaced["isEnding"] = with(random.pick(["\"no\"", "0", "[]"]))
    segments[host()].choices.append(with(random.pick(["17", "null", "[]", "\"\""])))
    var odd = choice("")
    odd["id"] = with(random.pick(wrong))
    odd["text"] = with(random.pick(wrong))
    odd["nextSegmentId"] = with(random.pick(wrong))
    segments[host()].choices.append(node(odd))
  }

  private mutating func plantWhole() {
    switch whole {
    case .nothing: break
    case .header:
      header["id"] = .text("../planted").with(.invalidID)
      header["title"] = .text("").with(.emptyText)
      header["ageRange"] = .text("5 to 8").with(.malformedAgeRange)
      header["estimatedReadingMinutes"] = .raw("9000000").with(.readingTime)
      header["tags"] = .array([.text("a"), .raw("5").with(.wrongType), .array([.raw("1")]).with(.wrongType)])
      header["isPurchased"] = .raw("0").with(.wrongType)
      header["author"] = .some(nil)
      headerFaults.append(PlantedNode.Fault(code: .missingField))
    case .start:
      segments[0].isAuthentic = false
      segments[0].faults.append(PlantedNode.Fault(code: .authenticPathBroken))
    case .authentic:
      for index in segments.indices { segments[index].isAuthentic = false }
      segmentsFaults.append(PlantedNode.Fault(code: .noAuthenticPath))
    case .brokenOff:
      for index in segments.indices { segments[index].isAuthentic = index == 0 }
      segments[0].faults.append(PlantedNode.Fault(code: .authenticPathBroken))
    case .endings:
      // Every ending now leads back to the start, so that no path ends.
      for index in segments.indices where segments[index].isEnding {
        segments[index].isEnding = false
        lead(index, to: 0)
      }
      // That every segment is a trap, and no path is complete, is one finding.
      for index in segments.indices { segments[index].isAuthentic = index == 0 }
      segmentsFaults.append(PlantedNode.Fault(code: .noEnding))
    }
  }
}
