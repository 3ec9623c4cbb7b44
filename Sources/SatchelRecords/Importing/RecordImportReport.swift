import SatchelJSON

/// What became of records that were taken from a file.
package struct RecordImportReport: Equatable, Sendable {
  package var added = 0
  package var changed = 0
  /// Those that the collection had just so.
  package var unchanged = 0

  package init() {}

  package var json: JSONValue {
    ["added": .int(Int64(added)), "changed": .int(Int64(changed)), "unchanged": .int(Int64(unchanged))]
  }
}
