"""Why a job waits or has failed, rule by rule."""
