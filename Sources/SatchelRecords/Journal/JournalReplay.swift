/// What became of the entries of a spill file.
package struct JournalReplay: Equatable, Sendable {
  /// Entries that are in the store now.
  package var applied = 0
  /// Entries that the store refused; they are kept, with the reason.
  package var refused = 0
  /// What could not be read of the file, with the places.
  package var damages: [String] = []

  package init() {}
}
