/// A rule of assets that is switched off, by a faulty part of the tests: the simulation must find it. The parts are the
/// connection, which answers for the remote, the ledger, and what the user does.
enum AssetMutant: String, CaseIterable {
  /// A head is written before the uploads that it names.
  case namefirst
  /// What nothing names is deleted without a head write.
  case nofence
  /// An upload is named although the fence has moved since.
  case ignorefence
  /// An upload is remembered in the store, and named by a later sync.
  case durableuploads
  /// What was once in the remote is taken to be there.
  case trustshadow
  /// References of one record are not counted.
  case undeclared
  /// What nothing refers to is dropped at once.
  case noretention
  /// The mark of an asset stays when something refers to it again.
  case keepmark
  /// Objects are deleted before the head that no longer names them.
  case deletefirst
  /// The bytes of changes that were not sent are evicted.
  case prunepending
  /// The bytes of versions that lost a conflict are evicted.
  case pruneconflict
  /// A record that waits for an asset stops the sync.
  case blockall
  /// Assets are uploaded for records that cannot go.
  case eager
  /// One response that an object does not exist is believed.
  case believe404
  /// Nothing is uploaded again.
  case norepair
  /// A sweep does not know what entries name.
  case unnamed
  /// Objects of another log are deleted at once.
  case sweepold

  /// Those whose mistake matters only after a loss of objects, or of the head.
  static let ofObjects: [AssetMutant] = [.norepair]
  static let ofHead: [AssetMutant] = [.sweepold]
  /// Those that chance finds seldom: see `AssetSimulation.steer`.
  static let steered: [AssetMutant] = [
    .ignorefence, .durableuploads, .trustshadow, .keepmark, .blockall, .eager, .believe404, .sweepold,
    .pruneconflict,
  ]
}
