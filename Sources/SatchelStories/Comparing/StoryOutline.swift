import SatchelCore
import SatchelJSON

/// The part of a story that a comparison with its next version needs: a story in this library's format whose
/// texts are digests.
enum StoryOutline {
  /// Returns the outline of a story, in time proportional to its text.
  ///
  /// - Parameter version: the SHA-256 of its text, in hexadecimal digits
  static func json(of analysis: StoryAnalysis, version: String) -> JSONValue {
    let table = analysis.table
    let segments = table.segments.indices.map { index -> JSONValue in
      var segment: JSONObject = ["text": .string(digest(of: analysis, index))]
      if table.segments[index].flags.contains(.hasID) { segment["id"] = .string(analysis.id(index)) }
      if table.segments[index].flags.contains(.isMarkedEnding) { segment["isEnding"] = true }
      if table.segments[index].flags.contains(.mayBeEntered) || index == 0 && table.hasOutsideLinks {
        segment["entry"] = "possible"
      }
      segment["choices"] = .array(
        table.choiceRange(index).compactMap { index -> JSONValue? in
          let choice = table.choices[index]
          var json = JSONObject()
          if choice.flags.contains(.isDynamic) { json["dynamic"] = true }
          if choice.flags.contains(.hasTarget) {
            json["nextSegmentId"] = .string(table.text.string(choice.target))
          }
          return json.isEmpty ? nil : .object(json)
        })
      return .object(segment)
    }
    return ["version": .string(version), "segments": .array(segments)]
  }

  /// Returns the digest of a segment's text.
  static func digest(of analysis: StoryAnalysis, _ segment: Int) -> String {
    Array(SHA256.digest(analysis.table.segmentText(segment).utf8).prefix(8)).hexadecimal
  }
}
