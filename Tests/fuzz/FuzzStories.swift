import Satchel
import SatchelJSON

/// A story as JSON or Twee: findings, each at a place that there is, or an error; the same text gives them again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  let tape = try? JSONTape(bytes)
  let isObject = tape.map { $0[$0.root].kind == .object } ?? false
  // The reader of stories and the scanner must agree on what is JSON.
  let report = try? StoryReport.check(bytes, source: .json)
  if (report != nil) != isObject {
    fatalError(isObject ? "an object was refused" : "taken, though it is no object")
  }
  do {
    let story = try Story(bytes)
    // The folder has some of the files that the seeds name.
    let withFiles = story.check(folder: "Tests/Fixtures")
    if let tape, isObject {
      compare(story.check(), tape)
      compare(withFiles, tape)
    }
    let references = try StoryAssets.references(in: story)
    if references.contains(where: { $0.asset.objectValue == nil }) {
      fatalError("a reference that is no object")
    }
    if (story.pathCount == .unbounded) != (story.exactPathCount == nil) { fatalError("counted in two ways") }
    if let first = story.start, story.segment(first.id) == nil, !first.id.isEmpty {
      fatalError("no first segment")
    }
    guard case let checked = story.check().json, try JSONValue(parsing: checked.serialized()) == checked
    else {
      fatalError("a report that cannot be read again")
    }
  } catch let error as SatchelError {
    if error.code != .invalid { fatalError("\(error.code): \(error)") }
  } catch {
    fatalError("an error that is no SatchelError: \(error)")
  }
  return 0
}

private func compare(_ report: StoryReport, _ tape: JSONTape) {
  guard let root = try? tape.value(tape.root) else { fatalError("an object that JSONValue refuses") }
  let places = Set(tape.tokens.indices.map { tape.rawRange($0).lowerBound })
  for finding in report.findings {
    guard let path = try? JSONPath(pointer: finding.pointer), (try? root.value(at: path)) != nil else {
      fatalError("\(finding.json) leads nowhere")
    }
    if !places.contains(finding.position.offset) {
      fatalError("\(finding.json) is at an offset without a value")
    }
  }
}
